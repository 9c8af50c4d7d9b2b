// Package complete finds completions for shells: sessions, turns, hunks, files under review, models and settings. Each
// completion is a word, a tab and a description.
package complete

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/config"
	"cursord/rpc"
	"cursord/sessions"
)

// A Finder finds completions in a workspace. It may use begin, the beginning of the word, but need not filter by it.
type Finder func(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error)

// word returns a completion: a word, a tab and the first line of a description.
func word(word, about string) string {
	about, _, _ = strings.Cut(strings.TrimSpace(about), "\n")
	return term.Clean(word) + "\t" + term.Fit(term.Clean(about), 60)
}

// Sessions finds the workspace's sessions, the latest first: as "@1", "@2" and so on if begin starts with @, else by their
// ids.
func Sessions(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error) {
	list, err := pages.Sessions(ctx, client, root)
	if err != nil {
		return nil, err
	}
	var words []string
	for i, s := range list {
		id := s.ID
		if strings.HasPrefix(begin, "@") {
			id = fmt.Sprintf("@%d", i+1)
		}
		words = append(words, word(id, s.Title+", "+term.Ago(s.UpdatedAt.Time, time.Now())))
	}
	return words, nil
}

// Turns finds the workspace's turns that run or wait, and the latest turn of each session.
func Turns(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error) {
	page, err := client.TurnList(ctx, rpc.TurnListParams{Workspace: root, Limit: 1000})
	return turnWords(page.Turns), err
}

// Running finds the workspace's turns that run or wait.
func Running(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error) {
	turns, err := pages.Active(ctx, client, root)
	return turnWords(turns), err
}

func turnWords(turns []*sessions.Turn) (words []string) {
	for _, t := range turns {
		words = append(words, word(t.ID, string(t.Status)+": "+t.Prompt))
	}
	return words
}

// Approvals finds what is pending in the workspace.
func Approvals(ctx context.Context, client *rpc.Client, root, begin string) (words []string, err error) {
	list, err := client.ApprovalList(ctx, rpc.ApprovalListParams{Workspace: root})
	for _, a := range list.Approvals {
		words = append(words, word(a.ID, cmp.Or(a.Command, a.Title)))
	}
	return words, err
}

// Attempts finds the workspace's groups of attempts, the latest first.
func Attempts(ctx context.Context, client *rpc.Client, root, begin string) (words []string, err error) {
	list, err := client.AttemptList(ctx, rpc.AttemptListParams{Workspace: root})
	for _, g := range list.Groups {
		words = append(words, word(g.Group, g.Prompt))
	}
	return words, err
}

// Files finds the files under review. A path is relative to the current directory if the file is below it, else to the
// workspace.
func Files(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error) {
	diffs, err := review.Pending(ctx, client, root)
	here, _ := os.Getwd()
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	var words []string
	for _, d := range diffs {
		path := d.Path
		if rel, err := filepath.Rel(here, review.DiffFile(root, d)); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		words = append(words, word(path, fmt.Sprintf("%s, %s", d.Kind, term.Count(len(d.Hunks), "hunk"))))
	}
	return words, err
}

// Changes finds the hunks and the files under review.
func Changes(ctx context.Context, client *rpc.Client, root, begin string) ([]string, error) {
	diffs, err := review.Pending(ctx, client, root)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, d := range diffs {
		for _, h := range d.Hunks {
			words = append(words, word(h.ID, d.Path))
		}
	}
	files, err := Files(ctx, client, root, begin)
	return append(words, files...), err
}

// Models finds the agent's models.
func Models(ctx context.Context, client *rpc.Client, _, _ string) ([]string, error) {
	list, err := client.AgentModels(ctx)
	var words []string
	for _, m := range list.Models {
		words = append(words, word(m.ID, m.Name))
	}
	return words, err
}

// Settings returns the keys of the configuration.
func Settings() []string { return config.Keys() }

// Choices returns all values of a key of the configuration; none if the key has no short list of values.
func Choices(key string) []string { return config.Choices(key) }
