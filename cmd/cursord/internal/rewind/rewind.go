// Package rewind is "cursord rewind": it has the daemon take a session back to before a turn, and says what came of it.
package rewind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A Rewind is a command line of rewind.
type Rewind struct {
	Session, Turn string // their names
	NoFiles       bool   // leave the files
	DryRun        bool   // print the patch, and change nothing
	Ask           bool   // print the patch, and ask
	JSON          bool

	In io.Reader // where the answer to Ask is typed
}

// Check returns an error for a command line that makes no sense.
func (r Rewind) Check() error {
	switch {
	case r.Turn == "":
		return misuse.Errorf("--turn names the first turn to take back")
	case r.Ask && (r.DryRun || r.JSON):
		return misuse.Errorf("--ask excludes --dry-run and --json")
	}
	return nil
}

// errLeft says that the person did not agree.
var errLeft = errors.New("nothing was taken back")

// Do takes the session back, and prints the result to out, and what was left to errOut.
func (r Rewind) Do(ctx context.Context, n naming.Names, out, errOut io.Writer) error {
	session, err := n.Session(ctx, r.Session)
	if err != nil {
		return err
	}
	turn, err := n.TurnOf(ctx, session, r.Turn)
	if err != nil {
		return err
	}
	asked, began, err := prompts(ctx, n, session, turn)
	if err != nil {
		return err
	}
	files := !r.NoFiles
	params := rpc.SessionRewindParams{SessionID: session, TurnID: turn, Files: &files, DryRun: r.DryRun || r.Ask}
	ended := term.Waits(errOut, "looking at what the turns have changed")
	done, err := n.Client.SessionRewind(ctx, params)
	ended()
	if err == nil && r.Ask {
		if err = preview(done, asked, began, out, errOut); err != nil {
			return err
		}
		if !term.Agrees(r.In, errOut, "Take this back") {
			return errLeft
		}
		params.DryRun, params.LastTurnID = false, done.Turns[len(done.Turns)-1]
		ended = term.Waits(errOut, "taking the changes back")
		done, err = n.Client.SessionRewind(ctx, params)
		ended()
	}
	switch {
	case err != nil:
		return err
	case r.JSON:
		return term.PrintJSON(out, done)
	case r.DryRun:
		return preview(done, asked, began, out, errOut)
	}
	_, err = fmt.Fprintf(out, "took back %s and %s\n", turns(done), changes(done))
	term.PrintFolded(errOut, left(done.Skipped)+commits(done, began))
	return err
}

// prompts returns what was asked in the turns of a session, by their ids, and when a turn began; the zero time if it did not.
func prompts(ctx context.Context, n naming.Names, session, turn string) (asked map[string]string, began time.Time, err error) {
	asked = map[string]string{}
	err = pages.Turns(ctx, n.Client, []*sessions.Session{{ID: session}}, func(_ *sessions.Session, turns []*sessions.Turn) {
		for _, t := range turns {
			asked[t.ID] = t.Asked()
			if t.ID == turn && t.StartedAt != nil {
				began = t.StartedAt.Time
			}
		}
	})
	return asked, began, err
}

// commits says that commits stay, if HEAD has moved since the first turn began and the files go back without it.
func commits(done api.Rewound, began time.Time) string {
	if began.IsZero() || done.Applied == 0 || done.Session == nil {
		return ""
	}
	head := movedHead(done.Session.Workspace, began)
	if head == "" {
		return ""
	}
	return fmt.Sprintf("HEAD in git has moved since the turn began, and stays at %s: a rewind takes back no commits\n", head)
}

// Bounds of the prompts that a preview names.
const (
	mostNamed = 5
	nameCells = 70
)

// names lists the prompts of turns, each on a line: the first ones, and how many there are more.
func names(turns []string, asked map[string]string) (text string) {
	for i, id := range turns {
		if i == mostNamed {
			return text + fmt.Sprintf("  … and %d more\n", len(turns)-i)
		}
		text += "  > " + term.Fit(term.Clean(strings.Join(strings.Fields(asked[id]), " ")), nameCells) + "\n"
	}
	return text
}

// preview prints what a rewind would do. asked has the prompts of turns, by their ids.
func preview(would api.Rewound, asked map[string]string, began time.Time, out, errOut io.Writer) (err error) {
	if would.Patch != "" {
		err = term.Page(out, view.Patch(term.PaletteOf(out), would.Patch))
	}
	term.PrintFolded(errOut, fmt.Sprintf("would take back %s and %s:\n", turns(would), changes(would))+names(would.Turns, asked)+left(would.Skipped)+commits(would, began))
	return err
}

func turns(done api.Rewound) string { return term.Count(len(done.Turns), "turn") }

func changes(done api.Rewound) string { return term.Count(done.Applied, "change") + " of files" }

// left says which files stay as they are, or in part.
func left(skipped []api.Skipped) (text string) {
	for _, s := range skipped {
		switch s.Kind {
		case api.KindChangedSince:
			text += fmt.Sprintf("%s keeps what was changed since\n", term.Clean(s.Path))
		default:
			text += fmt.Sprintf("left %s: %s\n", term.Clean(s.Path), term.Clean(s.Message))
		}
	}
	return text
}
