//go:build unix

package review

import (
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
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
	for name, c := range map[string]struct{ does, at string }{
		"and another in its place": {"mv dir/f dir/g; echo mine >dir/f", "dir/g"}, "after a copy": {"cp dir/f dir/g; echo mine >dir/f", "dir/f"},
		"a save with a backup": {"mv dir/f dir/f~; echo mine >dir/f", "dir/f"}, "saved, and a copy": {"mv dir/f dir/g; sed '1s/.*/mine/' dir/g >dir/f", "dir/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := edited(t)
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGSTOP)) // it looks after all of it
			w.Makes(c.does)
			require.NoError(t, w.Cmd.Process.Signal(syscall.SIGCONT))
			require.Len(t, e.Diffs(), 1)
			require.Contains(t, e.Diffs(), c.at)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Contains(t, w.Get("dir/f"), "mine\n")
			if c.at != "dir/f" {
				w.RequireTree(world.Tree{"dir/f": "mine\n", c.at: before})
			}
		})
	}
	t.Run("while no daemon runs", func(t *testing.T) {
		t.Parallel()
		w, e := edited(t)
		restarts := func(meanwhile string) {
			w.Kill()
			w.Makes(meanwhile)
			w.Start()
			e = w.Opens()
		}
		restarts("mv dir/f dir/g")
		require.Len(t, e.Diffs()["dir/g"].Hunks, 2)
		e.Decides("diff/accept", world.Obj{"all": true})
		restarts("mv dir/g dir/h")
		var out struct{ Lines []api.WhyLine }
		e.Must("file/why", world.Obj{"workspace": w.Root, "path": "dir/h"}, &out)
		require.NotNil(t, out.Lines[1].Source)
	})
	for name, does := range map[string][]string{
		"a copy from before": {"cp dir/f dir/copy", "rm dir/f"}, "a copy": {"cp dir/f dir/a; rm dir/f"}, "gone": {"rm dir/f"},
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

// TestAFileThatAPersonMovesOntoADeletedOne: an agent has edited a file and deleted another one. A person gives the first the name of the second:
// the hunks of both stay pending there, and each line is whose it was.
func TestAFileThatAPersonMovesOntoADeletedOne(t *testing.T) {
	t.Parallel()
	before, after := "p 1\np 2\n", "p 1\nagent 1\nagent 2\np 2\n"
	for name, c := range map[string]struct {
		from, to                   string
		edited, removed            bool // accepted
		restarts, decides, rewinds bool
	}{
		"pending": {from: "d", to: "g"}, "in the other order": {from: "g", to: "d"}, "to another folder": {from: "d", to: "dir/g"},
		"the edit accepted": {from: "d", to: "g", edited: true}, "the removal accepted": {from: "d", to: "g", removed: true},
		"both accepted": {from: "d", to: "g", edited: true, removed: true}, "the next daemon": {from: "g", to: "d", restarts: true},
		"right before a decision": {from: "d", to: "g", decides: true}, "right before a rewind": {from: "g", to: "d", rewinds: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put(c.from, before)
			w.Put(c.to, "gone\n")
			w.Start()
			e := w.Opens()
			accepts := func(is bool) {
				if is {
					e.Decides("diff/accept", world.Obj{"all": true})
				}
			}
			w.Plays(world.Lines(world.Edits("c", c.from, before, after))...)
			edit := e.Turn(nil)
			accepts(c.edited)
			w.Plays(commands("rm " + c.to)...)
			e.Turn(world.Obj{"sessionId": edit.SessionID})
			if c.removed {
				e.Decides("diff/accept", world.Obj{"path": c.to})
			}
			w.Makes("mv " + c.from + " " + c.to)
			if c.restarts {
				e.Diffs()
				w.Kill()
				w.Start()
				e = w.Opens()
			}
			if c.decides {
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, "gone\n"+before, w.Get(c.to))
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, after, w.Get(c.to))
			}
			if c.rewinds {
				rewinds(e, edit, nil)
				require.Equal(t, "gone\n"+before, w.Get(c.to))
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, after, w.Get(c.to))
			}
			var out struct{ Lines []api.WhyLine }
			e.Must("file/why", world.Obj{"workspace": w.Root, "path": c.to}, &out)
			require.Len(t, out.Lines, 3)
			require.Equal(t, edit.ID, out.Lines[1].Source.TurnID)
			var lines []string
			diffs := e.Diffs()
			require.NotContains(t, diffs, c.from)
			if !c.edited || !c.removed {
				for _, h := range diffs[c.to].Hunks {
					lines = append(lines, slices.DeleteFunc(h.Lines, func(l string) bool { return l[0] == ' ' })...)
				}
			}
			var want []string
			if !c.removed {
				want = append(want, "-gone")
			}
			if !c.edited {
				want = append(want, "+agent 1", "+agent 2")
			}
			require.Equal(t, want, lines)
		})
	}
}
