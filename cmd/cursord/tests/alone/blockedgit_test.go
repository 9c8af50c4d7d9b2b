//go:build unix

package alone

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestGitIsKeptFromItsWork has commands put in git's way what it would wait for, or take years for. What they change all the
// same is listed and comes back, in this turn and the next ones, and people are told what to remove.
func TestGitIsKeptFromItsWork(t *testing.T) {
	// Not parallel: a git that is kept from its work has seconds, and beside others it would need them for itself.
	for _, c := range []struct{ name, does, told string }{
		{"a FIFO for the ignore rules", "mkfifo .gitignore", ".gitignore is in the way"},
		{"a FIFO for the ignore rules of a new folder", "mkdir n; mkfifo n/.gitignore", "n/.gitignore is in the way"},
		{"a FIFO for the attributes", "mkfifo .gitattributes", ""},
		{"a FIFO for HEAD", "rm .git/HEAD; mkfifo .git/HEAD", ".git/HEAD is in the way"},
		{"a FIFO for the index", "rm .git/index; mkfifo .git/index", ".git/index is in the way"},
		{"a FIFO for the repository's ignore rules", "rm -f .git/info/exclude; mkfifo .git/info/exclude", ".git/info/exclude is in the way"},
		{"a FIFO for the configuration", "rm .git/config; mkfifo .git/config", ".git/config is in the way"},
		{"a FIFO for packed refs", "mkfifo .git/packed-refs", ".git/packed-refs is in the way"},
		{"a FIFO for alternates", "mkfifo .git/objects/info/alternates", "alternates is in the way"},
		{"another common folder", "echo ../x >.git/commondir", ""},
		{"no HEAD", "rm .git/HEAD", ""},
		{"a device for HEAD", "rm .git/HEAD; ln -s /dev/zero .git/HEAD", ""},
		{"a device for the index", "rm .git/index; ln -s /dev/zero .git/index", ""},
		{"a device for the configuration", "rm .git/config; ln -s /dev/zero .git/config", ""},
		{"a rule that takes years", "echo '*a*a*a*a*a*a*a*a*a*a*a*b' >.gitignore; for i in $(seq 60); do : >$(printf '%0150d' $i | tr 0 a); done", "took too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t)
			w.Put("a.txt", world.Numbered(20, nil))
			w.Put("b.txt", "b\n")
			w.Ages("a.txt", "b.txt")
			w.Commits()
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Shells("s", c.does+"; echo evil >>b.txt; echo evil >n.txt"))...)
			turn := e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			found := e.Diffs()
			require.Contains(t, found, "b.txt")
			require.Contains(t, found, "n.txt")
			require.Equal(t, "known", found["b.txt"].Baseline)
			require.Contains(t, e.Notices(turn.ID), c.told)

			w.Plays(world.Lines(world.Shells("s", "echo evil >>a.txt; echo evil >m.txt"))...)
			turn = e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			require.NotContains(t, e.Notices(turn.ID), "are not searched for")
			found = e.Diffs()
			require.Contains(t, found, "a.txt")
			require.Contains(t, found, "m.txt")
			require.Equal(t, "known", found["a.txt"].Baseline)

			e.Decides("diff/reject", world.Obj{"path": "a.txt"})
			e.Decides("diff/reject", world.Obj{"path": "b.txt"})
			e.Decides("diff/reject", world.Obj{"path": "n.txt"})
			require.Equal(t, world.Numbered(20, nil), w.Get("a.txt"))
			require.Equal(t, "b\n", w.Get("b.txt"))
			require.Equal(t, "(absent)", w.Get("n.txt"))
		})
	}
}

// TestCopyWithGitKeptFromItsWork has an agent put a FIFO in git's way in its copy, and a person one in the work tree. The turns
// after that work in spite of the first, and end with what to do about the second.
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
