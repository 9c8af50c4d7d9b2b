//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// put makes root hold c at a path.
func put(t *testing.T, root, name string, c diffs.Content) {
	t.Helper()
	full := filepath.Join(root, name)
	switch {
	case c.Target != "":
		require.NoError(t, os.Symlink(c.Target, full))
	case c.Exists:
		require.NoError(t, os.WriteFile(full, c.Data, 0o600))
		require.NoError(t, os.Chmod(full, fs.FileMode(c.Mode)))
	}
}

// in opens a folder for writing.
func in(t *testing.T, dir string) Root {
	t.Helper()
	w, err := Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// changing is a change of f that keeps its path.
func changing(before, after diffs.Content) *Change {
	return &Change{From: "f", To: "f", Temp: TempName("f"), Before: State{Content: before}, After: after, Mode: 0o644}
}

// TestApply applies every change to every state of the file: an expected state is replaced, and any other one stays.
func TestApply(t *testing.T) {
	file := func(text string, mode uint32) diffs.Content {
		return diffs.Content{Exists: true, Data: []byte(text), Mode: mode}
	}
	states := map[string]diffs.Content{
		"nothing": {}, "file": file("a\n", 0o644), "script": file("a\n", 0o755), "other": file("b\n", 0o644),
		"empty": file("", 0o600), "link": {Exists: true, Target: "x"}, "other link": {Exists: true, Target: "../y"},
	}
	for disk, have := range states {
		for expect, expected := range states {
			for name, want := range states {
				t.Run(disk+" taken for "+expect+" to "+name, func(t *testing.T) {
					root := t.TempDir()
					put(t, root, "f", have)
					require.True(t, Read(root, "f").Same(State{Content: have}))
					err := in(t, root).apply(changing(expected, want))
					switch {
					case expect == name:
						require.NoError(t, err, "there is nothing to do")
						want = have
					case disk != expect:
						require.ErrorIs(t, err, ErrChanged)
						want = have
					default:
						require.NoError(t, err)
					}
					now := Read(root, "f")
					require.True(t, now.Same(State{Content: want}), "%v", now)
					left, err := os.ReadDir(root)
					require.NoError(t, err)
					if want.Exists {
						require.Len(t, left, 1)
					} else {
						require.Empty(t, left)
					}
				})
			}
		}
	}
}

func TestApplyNeverFollowsLinks(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(outside, []byte("mine\n"), 0o644))
	link := diffs.Content{Exists: true, Target: outside}
	put(t, root, "f", link)
	require.NoError(t, in(t, root).apply(changing(link, diffs.Content{Exists: true, Data: []byte("x\n"), Mode: 0o755})))
	info, err := os.Lstat(filepath.Join(root, "f"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "mine\n", string(data))
}

func TestMoveOverwritesNothing(t *testing.T) {
	for _, c := range []diffs.Content{{Exists: true, Data: []byte("a\n"), Mode: 0o644}, {Exists: true, Target: "nowhere"}} {
		root := t.TempDir()
		put(t, root, "f", c)
		put(t, root, "g", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
		require.ErrorIs(t, in(t, root).move("f", "g", State{Content: c}), ErrOccupied)
		require.ErrorIs(t, in(t, root).move("f", "d/h", State{}), ErrChanged)
		require.NoError(t, in(t, root).move("f", "d/h", State{Content: c}))
		require.True(t, Read(root, "d/h").Same(State{Content: c}))
		require.False(t, Read(root, "f").Exists)
		require.Equal(t, "mine\n", string(Read(root, "g").Data))
	}
}

// TestCreateOverwritesNothing: a file appears just before create makes it.
func TestCreateOverwritesNothing(t *testing.T) {
	mine := diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644}
	for _, want := range []diffs.Content{{Exists: true, Data: []byte("a\n"), Mode: 0o644}, {Exists: true, Target: "x"}} {
		dir := t.TempDir()
		put(t, dir, "f", mine)
		require.ErrorIs(t, in(t, dir).make(changing(diffs.Content{}, want)), ErrChanged)
		require.True(t, Read(dir, "f").Same(State{Content: mine}))
	}
}

// TestReplaceLooksAgain: the file is saved just before replace, exchange or chmod writes it.
func TestReplaceLooksAgain(t *testing.T) {
	mine := diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644}
	expect := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o755}
	dir := t.TempDir()
	put(t, dir, "f", mine)
	want := diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o755}
	require.ErrorIs(t, in(t, dir).replace(changing(expect, want)), ErrChanged)
	require.ErrorIs(t, in(t, dir).convert(changing(expect, diffs.Content{Exists: true, Target: "x"})), ErrChanged)
	require.ErrorIs(t, in(t, dir).chmod(changing(expect, want)), ErrChanged)
	require.True(t, Read(dir, "f").Same(State{Content: mine}))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// TestASaveBetweenLookAndWriteStays: the file is saved right before it is replaced, removed or moved.
func TestASaveBetweenLookAndWriteStays(t *testing.T) {
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	mine := diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644}
	for name, do := range map[string]func(Root) error{
		"replaced": func(w Root) error {
			return w.Carry(changing(before, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644}))
		},
		"removed": func(w Root) error { return w.Carry(changing(before, diffs.Content{})) },
		"moved":   func(w Root) error { return w.move("f", "g", State{Content: before}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "f", before)
			w, saved := in(t, dir), false
			w.fault = func(s Step) error {
				if (s.Name == "exchange" || s.Name == "rename") && !saved {
					saved = true
					put(t, dir, "f", mine)
				}
				return nil
			}
			require.ErrorIs(t, do(w), ErrChanged)
			require.True(t, saved)
			require.True(t, Read(dir, "f").Same(State{Content: mine}))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

// TestNoFileIsBeyondALink: a folder of the path is a link, as where an agent has replaced a folder. The file there has another
// path, so it is not read by this one, and nothing is written there.
func TestNoFileIsBeyondALink(t *testing.T) {
	dir := t.TempDir()
	held := diffs.Content{Exists: true, Data: []byte("g\n"), Mode: 0o644}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "d", "in"), 0o755))
	put(t, dir, "d/g", held)
	put(t, dir, "d/in/h", held)
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	r, err := NewReader(dir)
	require.NoError(t, err)
	defer r.Close()
	for _, name := range []string{"l/g", "l/in/h"} {
		require.Equal(t, State{}, Read(dir, name), name)
		require.Equal(t, State{}, r.Read(name), name)
		require.NoError(t, r.Unknown(name), name)
		c := &Change{To: name, From: name, Temp: TempName(name), Before: State{Content: held}, After: diffs.Content{Exists: true, Data: []byte("other\n"), Mode: 0o644}}
		require.Error(t, in(t, dir).Carry(c), name)
	}
	require.ErrorIs(t, in(t, dir).Carry(&Change{From: "l/new", To: "l/new", Temp: TempName("l/new"), After: held}), ErrOccupied)
	require.True(t, Read(dir, "d/g").Same(State{Content: held}))
	require.True(t, Read(dir, "d/in/h").Same(State{Content: held}))
	require.NoFileExists(t, filepath.Join(dir, "d", "new"))
}
