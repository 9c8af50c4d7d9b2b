//go:build unix

package trees

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestRuleThatTakesYears: a command writes a .gitignore with a rule that would take git years. The changes of this turn and
// of the next one are listed and can be rejected, and a notice says that git took too long.
func TestRuleThatTakesYears(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "a\n")
	w.Put("b.txt", "b\n")
	w.Ages("a.txt", "b.txt")
	w.Commits()
	w.Start()
	e := w.Opens()
	years := "echo '*a*a*a*a*a*a*a*a*a*a*a*b' >.gitignore; for i in $(seq 60); do : >$(printf '%0150d' $i | tr 0 a); done"
	w.Plays(world.Lines(world.Shells("s", years+"; echo evil >>b.txt; echo evil >n.txt"))...)
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Contains(t, e.Notices(turn.ID), "took too long")
	w.Plays(world.Lines(world.Shells("s", "echo evil >>a.txt; echo evil >m.txt"))...)
	turn = e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.NotContains(t, e.Notices(turn.ID), "are not searched for")
	found := e.Diffs()
	for _, path := range []string{"a.txt", "b.txt", "n.txt", "m.txt"} {
		require.Contains(t, found, path)
		require.Equal(t, "known", found[path].Baseline, path)
		e.Decides("diff/reject", world.Obj{"path": path})
	}
	require.Equal(t, "a\n", w.Get("a.txt"))
	require.Equal(t, "b\n", w.Get("b.txt"))
	require.Equal(t, "(absent)", w.Get("n.txt"))
	require.Equal(t, "(absent)", w.Get("m.txt"))
}

// TestCopyWithGitKeptFromItsWork: an agent makes a FIFO called .gitignore in its copy, and the next turn works all the same.
// Then a person makes one in the work tree: the next turn fails and names the file to remove.
func TestCopyWithGitKeptFromItsWork(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "a\n")
	w.Commits()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(world.Lines(world.Shells("s", "mkfifo .gitignore; echo x >>a.txt"))...)
	e.Ok(s)
	w.Plays(world.Lines(world.Shells("s", "echo y >>a.txt; echo n >n.txt"))...)
	e.Ok(s)
	found := e.Diffs()
	require.Contains(t, found, "a.txt")
	require.Contains(t, found, "n.txt")
	w.Makes("mkfifo .gitignore")
	turn := e.Turn(world.Obj{"sessionId": s.ID})
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Contains(t, turn.Error.Message, w.Path(".gitignore")+" is in the way")
	require.NoError(t, os.Remove(w.Path(".gitignore")))
	e.Ok(s)
	require.Equal(t, "a\nx\ny\ny\n", w.Copied(s, "a.txt"))
}
