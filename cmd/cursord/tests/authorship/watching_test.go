//go:build unix

package authorship

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

func TestEveryWayOfSavingIsNoticed(t *testing.T) {
	t.Parallel()
	const path = "dir/f.txt"
	before := world.Numbered(20, nil)
	after := world.Numbered(20, map[int]string{10: "agent\n"})
	mine := "mine\n" + after
	for name, save := range map[string]func(t *testing.T, p, text string){
		"in place": func(t *testing.T, p, text string) {
			require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
		},
		"by a new file that is renamed": func(t *testing.T, p, text string) {
			require.NoError(t, os.WriteFile(p+".tmp", []byte(text), 0o644))
			require.NoError(t, os.Rename(p+".tmp", p))
		},
		"with a backup": func(t *testing.T, p, text string) {
			require.NoError(t, os.Rename(p, p+"~"))
			require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
			require.NoError(t, os.Remove(p+"~"))
		},
		"by deleting first": func(t *testing.T, p, text string) {
			require.NoError(t, os.Remove(p))
			require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
		},
		"in a new folder": func(t *testing.T, p, text string) {
			dir := filepath.Dir(p)
			require.NoError(t, os.Mkdir(dir+".new", 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir+".new", filepath.Base(p)), []byte(text), 0o644))
			require.NoError(t, os.Rename(dir, dir+".old"))
			require.NoError(t, os.Rename(dir+".new", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := world.Reviewing(t, path, before, after)
			for i, step := range []struct {
				text string
				want func(*sessions.Diff) bool
			}{
				{mine, func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 8 }},
				{after, func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 7 }},
				{before, world.Settled},
			} {
				mark := len(e.All())
				if name == "in a new folder" && i > 0 {
					require.NoError(t, os.RemoveAll(filepath.Dir(w.Path(path))+".old"))
				}
				save(t, w.Path(path), step.text)
				e.DiffOf(path, mark, "the diff after save "+step.text[:6], step.want)
			}
			require.Empty(t, e.Diffs())
			w.RequireTree(world.Tree{path: before})
		})
	}
}

func TestNothingIsWatchedWhenNothingIsPending(t *testing.T) {
	t.Parallel()
	_, e := world.Reviewing(t, "f", "a\n", "b\n")
	status := func() api.Watching {
		var s api.Status
		e.Must("daemon/status", nil, &s)
		return s.Watching
	}
	require.Equal(t, api.Watching{Directories: 1}, status())
	e.Decides("diff/accept", world.Obj{"all": true})
	e.Diffs() // comes behind what follows a decision
	require.Zero(t, status())
}

func TestAFolderThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "a/b/f", "old\n", "new\n")
	mark := len(e.All())
	require.NoError(t, os.RemoveAll(w.Path("a")))
	e.DiffOf("a/b/f", mark, "the file gone with its folder", world.Settled)

	w.Put("a/b/g", "old\n")
	w.Plays(world.Lines(world.Edits("c2", "a/b/g", "old\n", "new\n"))...)
	e.Turn(world.Obj{"prompt": "again"})
	mark = len(e.All())
	require.NoError(t, os.Rename(w.Path("a"), w.Path("x")))
	require.NoError(t, os.MkdirAll(w.Path("a/b"), 0o755))
	w.Put("a/b/g", "old\n")
	e.DiffOf("a/b/g", mark, "the file put back", world.Settled)
}
