// Package remove is "cursord delete": it shows the sessions, asks for consent and deletes them.
package remove

import (
	"context"
	"fmt"
	"io"
	"slices"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// Sessions deletes the named sessions. It first finds all of them and, on a terminal, asks for consent unless yes is set.
func Sessions(ctx context.Context, n naming.Names, names []string, yes, asJSON bool, in io.Reader, out, errOut io.Writer) error {
	type session struct{ id, title string }
	var found []session
	for _, name := range names {
		id, err := n.Session(ctx, name)
		if err != nil {
			return err
		}
		t, err := n.Client.SessionRead(ctx, rpc.SessionReadParams{SessionID: id, Limit: 1})
		if err != nil {
			return err
		}
		if s := (session{t.Session.ID, t.Session.Title}); !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	if !yes && term.IsTerminal(in) && term.IsTerminal(errOut) {
		for _, s := range found {
			fmt.Fprintf(errOut, "%s  %s\n", term.Clean(s.id), term.Clean(s.title))
		}
		if !term.Agrees(in, errOut, "Delete "+term.Count(len(found), "session")+" for good") {
			return fmt.Errorf("nothing was deleted")
		}
	}
	deleted := []string{}
	for _, s := range found {
		if err := n.Client.SessionDelete(ctx, rpc.SessionParams{SessionID: s.id}); err != nil {
			return err
		}
		deleted = append(deleted, s.id)
		if !asJSON {
			fmt.Fprintf(out, "deleted session %s: %s\n", term.Clean(s.id), term.Clean(s.title))
		}
	}
	if asJSON {
		return term.PrintJSON(out, struct {
			Deleted []string `json:"deleted"`
		}{deleted})
	}
	return nil
}
