package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// reviewing starts a daemon whose agent has turned before into after at path, and returns a client that was told so.
func reviewing(t *testing.T, path, before, after string) (*world, *editor) {
	t.Helper()
	w := newWorld(t)
	w.put(path, before)
	w.plays(lines(edits("c", path, before, after))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Contains(t, e.diffs(), path)
	return w, e
}

// told waits for a diff/changed of path, told after mark, that fits.
func (e *editor) diffOf(path string, mark int, what string, fits func(*sessions.Diff) bool) *sessions.Diff {
	e.t.Helper()
	n := 0
	return e.until(what, func(t told) bool {
		n++
		return n > mark && t.Method == "diff/changed" && t.Diff.Path == path && fits(t.Diff)
	}).Diff
}

func settled(d *sessions.Diff) bool { return d.State == "clean" }

func TestEveryWayOfSavingIsNoticed(t *testing.T) {
	t.Parallel()
	const path = "dir/f.txt"
	before := numbered(20, nil)
	after := numbered(20, map[int]string{10: "agent\n"})
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
			w, e := reviewing(t, path, before, after)
			for i, step := range []struct {
				text string
				want func(*sessions.Diff) bool
			}{
				{mine, func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 8 }},
				{after, func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 7 }},
				{before, settled},
			} {
				mark := len(e.all())
				if name == "in a new folder" && i > 0 {
					require.NoError(t, os.RemoveAll(filepath.Dir(w.path(path))+".old"))
				}
				save(t, w.path(path), step.text)
				e.diffOf(path, mark, "the diff after save "+step.text[:6], step.want)
			}
			require.Empty(t, e.diffs())
			w.requireTree(tree{path: before})
		})
	}
}

func TestNothingIsWatchedWhenNothingIsPending(t *testing.T) {
	t.Parallel()
	_, e := reviewing(t, "f", "a\n", "b\n")
	status := func() api.Watching {
		var s api.Status
		e.must("daemon/status", nil, &s)
		return s.Watching
	}
	require.Equal(t, api.Watching{Directories: 1}, status())
	e.decides("diff/accept", obj{"all": true})
	e.diffs() // comes behind what follows a decision
	require.Zero(t, status())
}

func TestAFolderThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	w, e := reviewing(t, "a/b/f", "old\n", "new\n")
	mark := len(e.all())
	require.NoError(t, os.RemoveAll(w.path("a")))
	e.diffOf("a/b/f", mark, "the file gone with its folder", settled)

	w.put("a/b/g", "old\n")
	w.plays(lines(edits("c2", "a/b/g", "old\n", "new\n"))...)
	e.turn(obj{"prompt": "again"})
	mark = len(e.all())
	require.NoError(t, os.Rename(w.path("a"), w.path("x")))
	require.NoError(t, os.MkdirAll(w.path("a/b"), 0o755))
	w.put("a/b/g", "old\n")
	e.diffOf("a/b/g", mark, "the file put back", settled)
}
