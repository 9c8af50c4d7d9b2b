//go:build unix

package world

import (
	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// The files before and after a turn that edits f in two places by a call, and writes notes.txt by no call, while the agent's
// hooks may run programs.
var (
	UnexplainedBefore = Tree{"f": Numbered(20, nil), "notes.txt": Numbered(20, nil)}
	UnexplainedAfter  = Tree{
		"f":         Numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}),
		"notes.txt": Numbered(20, map[int]string{12: "twelve\n"}),
	}
)

// PlaysUnexplained makes the agent's next turns such turns.
func (w *World) PlaysUnexplained() {
	w.Put(".cursor/hooks.json", `{"version": 1, "hooks": {"afterFileEdit": [{"command": "true"}]}}`)
	w.PutAll(UnexplainedBefore)
	w.Plays(Lines(
		Edits("e", "f", UnexplainedBefore["f"], UnexplainedAfter["f"]),
		Shells("s", "true"),
		[]string{Execs("sleep 0.1; sed -i 's/^line 12$/twelve/' notes.txt")})...)
}

// Unexplained starts a daemon and runs such a turn.
func (w *World) Unexplained() (e *Editor, turn *sessions.Turn) {
	w.PlaysUnexplained()
	w.Start()
	e = w.Opens()
	turn = e.Turn(nil)
	found := e.Diffs()
	require.Equal(w.T, []string{"edit", "edit"}, Vias(found["f"]))
	require.Equal(w.T, []string{"unknown"}, Vias(found["notes.txt"]))
	return e, turn
}

// With returns files with those of others that are named in place of its own.
func (files Tree) With(others Tree, names ...string) Tree {
	all := Tree{}
	for name, text := range files {
		all[name] = text
	}
	for _, name := range names {
		all[name] = others[name]
	}
	return all
}
