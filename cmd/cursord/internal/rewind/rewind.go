// Package rewind is "cursord rewind": it has the daemon take a session back to before a turn, and says what came of it.
package rewind

import (
	"context"
	"fmt"
	"io"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
)

// A Rewind is a command line of rewind.
type Rewind struct {
	Session, Turn string // their names
	NoFiles       bool   // leave the files
	DryRun        bool   // print the patch, and change nothing
	JSON          bool
}

// Do takes the session back, and prints the result to out, and what was left to errOut.
func (r Rewind) Do(ctx context.Context, n naming.Names, out, errOut io.Writer) error {
	session, err := n.Session(ctx, r.Session)
	if err != nil {
		return err
	}
	turn, err := n.Turn(ctx, r.Turn)
	if err != nil {
		return err
	}
	files := !r.NoFiles
	done, err := n.Client.SessionRewind(ctx, rpc.SessionRewindParams{SessionID: session, TurnID: turn, Files: &files, DryRun: r.DryRun})
	switch {
	case err != nil:
		return err
	case r.JSON:
		return term.PrintJSON(out, done)
	case r.DryRun:
		if done.Patch != "" {
			err = term.Page(out, term.CleanText(done.Patch))
		}
		term.PrintFolded(errOut, fmt.Sprintf("would take back %s and %s\n", turns(done), changes(done)))
	default:
		_, err = fmt.Fprintf(out, "took back %s and %s\n", turns(done), changes(done))
	}
	term.PrintFolded(errOut, left(done.Skipped))
	return err
}

func turns(done api.Rewound) string { return term.Count(len(done.Turns), "turn") }

func changes(done api.Rewound) string { return term.Count(done.Applied, "change") + " of files" }

// left says which files stay as they are, or in part.
func left(skipped []api.Skipped) (text string) {
	for _, s := range skipped {
		switch s.Kind {
		case api.KindChangedSince:
			text += fmt.Sprintf("left in %s: what was changed since\n", term.Clean(s.Path))
		default:
			text += fmt.Sprintf("left %s: %s\n", term.Clean(s.Path), term.Clean(s.Message))
		}
	}
	return text
}
