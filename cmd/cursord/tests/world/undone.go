//go:build unix

package world

import (
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// An UndoneAccept is a file with two hunks of a session in a copy. An editor has accepted the first one by edits, and is about to undo that.
type UndoneAccept struct {
	E                  *Editor
	Doc                *Document
	Session            *sessions.Session
	Before, One, After string // the text without the agent's lines, with the first one, and with both
	Half               string // the beginning of One, as a save that is cut off leaves it

	w      *World
	other  *Editor
	second string // the second hunk
}

// AboutToUndo makes an UndoneAccept; env is for the daemon.
func (w *World) AboutToUndo(env ...string) *UndoneAccept {
	w.T.Helper()
	u := &UndoneAccept{
		w: w, Before: Numbered(30, nil), One: Numbered(30, map[int]string{5: "agent 5\n"}), After: Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"}),
	}
	u.Half, _, _ = strings.Cut(u.One, "line 28\n")
	w.Put("f", u.Before)
	w.Commits()
	w.Plays(Lines(Edits("c", "f", u.Before, u.After))...)
	w.Start(env...)
	u.E = w.Opens()
	u.other = w.Joins()
	u.Session = u.E.Isolates()
	u.E.Ok(u.Session)
	ids := HunkIDs(u.E.Diffs()["f"])
	require.Len(w.T, ids, 2)
	u.Doc, u.second = u.E.OpenDocument("f"), ids[1]
	u.accepts(ids[0])
	return u
}

func (u *UndoneAccept) accepts(id string) {
	u.w.T.Helper()
	u.Doc.Applies(u.E.Decides("diff/accept", Obj{"hunks": []string{id}, "asEdits": true}).Edits)
}

// Redoes has the editor redo and save the accept, make the other one, and undo both: the decision lasts, and all hunks come back.
func (u *UndoneAccept) Redoes() {
	u.w.T.Helper()
	pending := func(n int) {
		u.w.T.Helper()
		require.True(u.w.T, Comes(Patience, func() bool {
			f := u.other.Diffs()["f"]
			return f == nil && n == 0 || f != nil && len(f.Hunks) == n
		}), "%d hunks", n)
	}
	u.Doc.Set(u.One)
	u.Doc.Save()
	pending(1)
	u.accepts(u.second)
	require.Equal(u.w.T, u.After, u.Doc.Text)
	u.Doc.Save()
	pending(0)
	u.Doc.Set(u.Before)
	u.Doc.Save()
	pending(2)
}
