//go:build unix

package review

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// editedBy makes a world with a file that an agent has edited.
func editedBy(t *testing.T, path, before, after string) (*world.World, *world.Editor) {
	t.Helper()
	w := world.New(t)
	w.Put(path, before)
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", path, before, after))...)
	e.Turn(nil)
	return w, e
}

// TestAFileThatAPersonMovesAway: a person moves a file with pending hunks away and back. The hunks are there again, also for the next daemon.
// Once they were accepted without a word.
func TestAFileThatAPersonMovesAway(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent 3\n", 7: "agent 7\n"})
	for name, restarts := range map[string]bool{"one daemon": false, "the next daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := editedBy(t, "f", before, after)
			w.Makes("mv f ../g")
			require.Empty(t, e.Diffs())
			if restarts {
				w.Kill()
				w.Start()
				e = w.Opens()
				require.Empty(t, e.Diffs())
			}
			w.Makes("mv ../g f")
			require.Len(t, e.Diffs()["f"].Hunks, 2)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, before, w.Get("f"))

			w.Makes("mv f g")
			require.Empty(t, e.Diffs())
			w.Put("f", "another\n")
			require.Empty(t, e.Diffs())
			require.Equal(t, "another\n", w.Get("f"))
		})
	}
}

// TestAFileThatAPersonRenames: the hunks of a file follow it to another name in its folder. They do not go to a file that was there before.
func TestAFileThatAPersonRenames(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent 3\n", 7: "agent 7\n"})
	edited := func(t *testing.T) (*world.World, *world.Editor) {
		w, e := editedBy(t, "dir/f", before, after)
		w.Put("dir/other", "other\n")
		require.Len(t, e.Diffs()["dir/f"].Hunks, 2)
		return w, e
	}
	t.Run("in its folder", func(t *testing.T) {
		t.Parallel()
		w, e := edited(t)
		w.Makes("mv dir/f dir/g")
		d := e.Diffs()["dir/g"]
		require.NotNil(t, d)
		require.Len(t, d.Hunks, 2)
		require.NotContains(t, e.Diffs(), "dir/f")
		w.Kill()
		w.Start()
		e = w.Opens()
		e.Decides("diff/accept", world.Obj{"hunks": []string{d.Hunks[0].ID}})
		w.Makes("mv dir/g dir/h")
		require.Contains(t, e.Diffs(), "dir/h")
		w.Makes("echo mine >>dir/h")
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, world.Numbered(9, map[int]string{3: "agent 3\n"})+"mine\n", w.Get("dir/h"))
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Equal(t, after+"mine\n", w.Get("dir/h"))
		w.Makes("mv dir/h dir/f")
		require.Len(t, e.Diffs()["dir/f"].Hunks, 1)
	})
	for name, does := range map[string][]string{
		"a copy from before": {"cp dir/f dir/copy", "rm dir/f"}, "two copies": {"cp dir/f dir/a; mv dir/f dir/b"}, "gone": {"rm dir/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := edited(t)
			for _, one := range does {
				require.NoError(t, w.Cmd.Process.Signal(syscall.SIGSTOP)) // it looks at the folder before all of it, or after
				w.Makes(one)
				require.NoError(t, w.Cmd.Process.Signal(syscall.SIGCONT))
				e.Diffs()
			}
			require.Empty(t, e.Diffs())
		})
	}
}
