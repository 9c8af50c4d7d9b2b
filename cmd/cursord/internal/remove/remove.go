// Package remove is "cursord delete": it shows the sessions, asks for consent and deletes them.
package remove

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A found session is one that is to be deleted.
type found struct {
	*sessions.Session
	pending string // what is to review in its copy, such as "7 hunks in 4 files"; "" if nothing
}

// Sessions deletes the named sessions. It first finds all of them. On a terminal it asks for consent unless yes is set; elsewhere
// it refuses without yes if a copy has something to review, because that goes with its session.
func Sessions(ctx context.Context, n naming.Names, names []string, yes, asJSON bool, in io.Reader, out, errOut io.Writer) error {
	var list []found
	for _, name := range names {
		id, err := n.Session(ctx, name)
		if err != nil {
			return err
		}
		t, err := n.Client.SessionRead(ctx, rpc.SessionReadParams{SessionID: id, Limit: 1})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(f found) bool { return f.ID == t.Session.ID }) {
			continue
		}
		f := found{Session: t.Session}
		if !yes && f.Isolation == "copy" {
			if f.pending, err = inCopy(ctx, n.Client, f.Session); err != nil {
				return err
			}
		}
		list = append(list, f)
	}
	if !yes && term.IsTerminal(in) && term.IsTerminal(errOut) {
		for _, f := range list {
			fmt.Fprintf(errOut, "%s  %s\n", term.Clean(f.ID), term.Clean(f.Title))
			if f.pending != "" {
				fmt.Fprintf(errOut, "  its copy has %s to review, which will be lost\n", f.pending)
			}
		}
		if !term.Agrees(in, errOut, "Delete "+term.Count(len(list), "session")+" for good") {
			return fmt.Errorf("nothing was deleted")
		}
	} else if err := refusal(list, names); err != nil {
		return err
	}
	deleted := []string{}
	for _, f := range list {
		if err := n.Client.SessionDelete(ctx, rpc.SessionParams{SessionID: f.ID}); err != nil {
			return err
		}
		deleted = append(deleted, f.ID)
		if !asJSON {
			fmt.Fprintf(out, "deleted session %s: %s\n", term.Clean(f.ID), term.Clean(f.Title))
		}
	}
	if asJSON {
		return term.PrintJSON(out, struct {
			Deleted []string `json:"deleted"`
		}{deleted})
	}
	return nil
}

// inCopy says what is to review in a session's copy.
func inCopy(ctx context.Context, client *rpc.Client, s *sessions.Session) (string, error) {
	diffs, err := review.Pending(ctx, client, s.Workspace)
	if err != nil {
		return "", err
	}
	left, hunks := sessions.InCopy(diffs, s.ID)
	if hunks == 0 {
		return "", nil
	}
	return term.Count(hunks, "hunk") + " in " + term.Count(len(left), "file"), nil
}

// refusal returns an error if sessions have something to review in their copies.
func refusal(list []found, names []string) error {
	var first *found
	for i := range list {
		if list[i].pending != "" {
			first = &list[i]
			break
		}
	}
	if first == nil {
		return nil
	}
	var words []string
	for _, name := range names {
		words = append(words, term.ShellWord(name))
	}
	return &rpc.Error{
		Message: fmt.Sprintf("the copy of session %s has %s to review, and they would be lost: nothing was deleted", term.Clean(first.ID), first.pending),
		Data: rpc.ErrorData{Hint: "decide them (cursord diff lists them), or delete all the same: cursord delete -y " +
			strings.Join(words, " ")},
	}
}
