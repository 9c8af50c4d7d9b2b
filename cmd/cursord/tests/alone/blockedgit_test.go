//go:build unix

package alone

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestGitIsKeptFromItsWork has commands put things into the repository for which git would wait. The changes of these
// commands and of the next turn are listed and can be rejected, and a notice names the file to remove.
func TestGitIsKeptFromItsWork(t *testing.T) {
	t.Parallel() // beside the other test alone, one case at a time: git's time is limited, and beside more it would need it for itself
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
