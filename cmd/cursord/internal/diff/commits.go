package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Commits is a command line of diff that is about what an agent has committed in a copy.
type Commits struct {
	Session string   // a session's name; "": the one with commits
	Only    []string // commits, or the beginnings of their ids; empty: all
	Stat    bool     // a line for each commit
	JSON    bool
	NoPager bool
}

// Do prints the commits, the oldest first: as mails for git am, or as the flags say. It returns whether there are any.
func (l Commits) Do(ctx context.Context, n naming.Names, out, errOut io.Writer) (any bool, err error) {
	session, err := l.session(ctx, n)
	if err != nil {
		return false, err
	}
	said := api.Commits{Commits: []api.Commit{}}
	if session != "" {
		said, err = n.Client.SessionCommits(ctx, rpc.SessionCommitsParams{SessionID: session, Commits: l.Only, Patch: !l.Stat && !l.JSON})
		if err != nil {
			return false, err
		}
	}
	any = len(said.Commits) > 0
	switch {
	case l.JSON:
		return any, term.PrintJSON(out, said)
	case !any:
		fmt.Fprintf(errOut, "no agent has committed anything in a copy of %s\n", term.Clean(n.Root))
		return false, nil
	case l.Stat:
		return true, l.page(out, list(term.PaletteOf(out), said.Commits))
	}
	if merges := merges(said.Commits); merges > 0 {
		fmt.Fprintf(errOut, "left out: %s; mails for git am cannot have them\n", term.Count(merges, "merge"))
	}
	if term.IsTerminal(out) {
		return true, l.page(out, term.CleanText(string(said.Patch)))
	}
	_, err = out.Write(said.Patch)
	return true, err
}

func (l Commits) page(out io.Writer, text string) error {
	if l.NoPager {
		_, err := io.WriteString(out, text)
		return err
	}
	return term.Page(out, text)
}

// session returns the session that is meant; "" if no session of the workspace has commits.
func (l Commits) session(ctx context.Context, n naming.Names) (string, error) {
	if l.Session != "" {
		return n.Session(ctx, l.Session)
	}
	var found []*sessions.Session
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, err := n.Client.SessionList(ctx, rpc.SessionListParams{Workspace: n.Root, Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, s := range page.Sessions {
			if s.Isolation != "copy" {
				continue
			}
			said, err := n.Client.SessionCommits(ctx, rpc.SessionCommitsParams{SessionID: s.ID})
			if err != nil {
				return "", err
			}
			if len(said.Commits) > 0 {
				found = append(found, s)
			}
		}
		cursor = page.NextCursor
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0].ID, nil
	}
	var b strings.Builder
	b.WriteString("the agents of several sessions have committed something; name one of them with --session:")
	for _, s := range found {
		fmt.Fprintf(&b, "\n  %s  %s", s.ID, term.Clean(s.Title))
	}
	return "", errors.New(b.String())
}

// list returns a line for each commit.
func list(p term.Palette, all []api.Commit) string {
	var b strings.Builder
	for _, c := range all {
		when := ""
		if c.At != nil {
			when = c.At.Local().Format("2006-01-02 15:04") + "  "
		}
		fmt.Fprintf(&b, "%s  %s%s  %s\n", p.Yellow(c.ID[:min(len(c.ID), 10)]), when, term.Clean(c.Author), term.Clean(c.Subject))
	}
	return b.String()
}

func merges(all []api.Commit) (n int) {
	for _, c := range all {
		if len(c.Parents) > 1 {
			n++
		}
	}
	return n
}
