package copytree

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each run draws the same few cases; -rapid.seed and -rapid.checks draw others.
func init() {
	_ = flag.Set("rapid.seed", "1")
	_ = flag.Set("rapid.checks", "40")
}

func TestTakeOver(t *testing.T) {
	w := newWorld(t).repo()
	w.write("doc/a.md", "a\n")
	w.write("same", "x\n")
	age(t, w.root)
	c := w.make(Options{})

	// The user's changes of every kind come over.
	w.write("reed.txt", "user\n")
	w.write("new/deep/file", "new\n")
	require.NoError(t, os.RemoveAll(filepath.Join(w.root, "doc")))
	require.NoError(t, os.Chmod(filepath.Join(w.root, "run.sh"), 0o644))
	require.NoError(t, os.Symlink("reed.txt", filepath.Join(w.root, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(w.root, "hollow"), 0o755))
	w.write("noise.log", "ignored\n")
	require.NoError(t, os.Chtimes(filepath.Join(w.root, "same"), time.Now(), time.Now()))
	require.Equal(t, "deleted doc/a.md, created link, created new/deep/file, modified reed.txt, mode run.sh", w.takeOver(c))
	require.Equal(t, "user\n", read(t, c.Path(), "reed.txt"))
	require.NoDirExists(t, filepath.Join(c.Path(), "doc"))
	require.DirExists(t, filepath.Join(c.Path(), "hollow"))
	require.NoFileExists(t, filepath.Join(c.Path(), "noise.log"))
	require.Empty(t, w.changed(c))
	require.Empty(t, w.takeOver(c))
	require.Equal(t, status(t, w.root), status(t, c.Path()))

	// The agent's changes are reported, and stay when the user changes something too.
	write(t, c.Path(), "reed.txt", "agent\n")
	write(t, c.Path(), "agent/new", "agent\n")
	write(t, c.Path(), "out.log", "ignored\n")
	require.NoError(t, os.Remove(filepath.Join(c.Path(), "lib", "toad.go")))
	require.NoError(t, os.Remove(filepath.Join(c.Path(), "link")))
	require.NoError(t, os.Symlink("run.sh", filepath.Join(c.Path(), "link")))
	agents := "created agent/new, deleted lib/toad.go, symlink link, modified reed.txt"
	require.Equal(t, agents, w.changed(c))
	w.write("reed.txt", "user again\n")
	w.write("agent/new", "user\n")
	w.write("lib/toad.go", "package toad\n")
	w.write("lib/frog.go", "package newt\n")
	both := "created agent/new (pending), modified lib/frog.go, modified lib/toad.go (pending), modified reed.txt (pending)"
	require.Equal(t, both, w.takeOver(c))
	require.Equal(t, agents, w.changed(c))
	require.Equal(t, "agent\n", read(t, c.Path(), "reed.txt"))
	require.Equal(t, strings.Replace(both, " modified lib/frog.go,", "", 1), w.takeOver(c), "they are told until they are noted")
	base, err := c.Base(t.Context(), "reed.txt")
	require.NoError(t, err)
	require.Equal(t, "user\n", string(base), "neither side has it any more")
	base, err = c.Base(t.Context(), "lib/toad.go")
	require.NoError(t, err)
	require.Equal(t, "package frog // toad\n", string(base), "git has it")

	// After a merge the agent's change remains on top of the user's; equal sides leave no change.
	write(t, c.Path(), "reed.txt", "user again, and agent\n")
	require.NoError(t, c.TookIn("reed.txt"))
	write(t, c.Path(), "agent/new", "user\n")
	require.NoError(t, c.TookIn("agent/new"))
	for range 2 {
		require.Equal(t, "modified lib/toad.go (pending)", w.takeOver(c))
		require.Equal(t, "deleted lib/toad.go, symlink link, modified reed.txt", w.changed(c))
		base, err = c.Base(t.Context(), "reed.txt")
		require.NoError(t, err)
		require.Equal(t, "user again\n", string(base))
		c, err = Open(w.dir, Options{}) // a new daemon has the same state
		require.NoError(t, err)
	}

	// Equal changes on both sides are settled.
	require.NoError(t, os.Remove(filepath.Join(w.root, "lib", "toad.go")))
	require.Empty(t, w.takeOver(c))
	require.Equal(t, "symlink link, modified reed.txt", w.changed(c))
	taken, ok := c.Taken("reed.txt")
	require.True(t, ok)
	require.EqualValues(t, len("user again\n"), taken.Size)
	_, ok = c.Taken("lib/toad.go")
	require.False(t, ok)
}

// TestInTheWay changes files to folders and folders to files, on one side or on both.
func TestInTheWay(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a/x", "b/x", "c", "d", "e/x", "f/x"} {
		w.write(name, name)
	}
	c := w.make(Options{})
	swap := func(dir, name, in string) {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		write(t, dir, name+in, "swapped")
	}
	swap(w.root, "a", "")
	swap(w.root, "c", "/y")
	require.Equal(t, "created a, deleted a/x, deleted c, created c/y", w.takeOver(c))
	require.Empty(t, w.changed(c))
	require.Equal(t, tree(t, w.root, false), tree(t, c.Path(), false))

	write(t, c.Path(), "b/agent", "agent")
	swap(w.root, "b", "")
	swap(c.Path(), "d", "/y")
	w.write("d", "user")
	swap(c.Path(), "e", "")
	w.write("e/z", "user")
	// The agent replaces a folder by a link to elsewhere: nothing is written through the link.
	require.NoError(t, os.RemoveAll(filepath.Join(c.Path(), "f")))
	require.NoError(t, os.Symlink(w.root, filepath.Join(c.Path(), "f")))
	w.write("f/x", "user")
	w.write("f/y", "user")
	require.Equal(t, "created b (pending), deleted b/x, modified d (pending), created e/z (pending), modified f/x (pending), created f/y (pending)", w.takeOver(c))
	require.NoFileExists(t, filepath.Join(w.root, "x"))
	require.Equal(t, "created b/agent, deleted d, created d/y, created e, deleted e/x, created f, deleted f/x", w.changed(c))
}

func TestPlainFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and modes")
	}
	w := newWorld(t)
	w.write("a", "a")
	w.write("sub/exec", "#!")
	require.NoError(t, os.Chmod(filepath.Join(w.root, "sub/exec"), 0o751))
	w.write("bad\xffname\n/x", "x")
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "empty/in/empty"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(w.root, "near")))
	require.NoError(t, os.Symlink(filepath.Join(w.root, "sub"), filepath.Join(w.root, "abs")))
	require.NoError(t, os.Symlink("/nowhere", filepath.Join(w.root, "away")))
	require.NoError(t, os.Link(filepath.Join(w.root, "a"), filepath.Join(w.root, "twin")))
	require.NoError(t, mkfifo(filepath.Join(w.root, "pipe")))
	w.write("locked", "x")
	require.NoError(t, os.Chmod(filepath.Join(w.root, "locked"), 0))
	w.write("inner/kept.txt", "x")
	w.write("inner/.gitignore", "*.o\n")
	w.write("inner/x.o", "x")
	gitIn(t, filepath.Join(w.root, "inner"), "init", "-q")
	c := w.make(Options{})

	notes := map[string]string{}
	for _, n := range c.Differences() {
		notes[n.Path] = n.Text
	}
	require.Contains(t, notes["pipe"], "no file, folder or link")
	require.Contains(t, notes["away"], "outside")
	require.Contains(t, notes["inner"], "without its .git")
	if os.Getuid() != 0 {
		require.Contains(t, notes["locked"], "permission denied")
		require.NoError(t, os.Remove(filepath.Join(w.root, "locked")))
	}
	require.NoError(t, os.Remove(filepath.Join(w.root, "pipe")))
	require.NoError(t, os.Remove(filepath.Join(w.root, "inner/x.o")))
	require.NoError(t, os.RemoveAll(filepath.Join(w.root, "inner/.git")))
	require.Equal(t, strings.ReplaceAll(tree(t, w.root, false), w.root, c.Path()), tree(t, c.Path(), false))
	write(t, c.Path(), "a", "b")
	require.Equal(t, "a", read(t, w.root, "twin"))
	require.Equal(t, "a", read(t, c.Path(), "twin"), "hard links become separate files")
	require.NoError(t, os.Remove(filepath.Join(c.Path(), "abs")))
	require.NoError(t, os.Symlink(filepath.Join(c.Path(), "a"), filepath.Join(c.Path(), "abs")))
	list, err := c.Changed(t.Context())
	require.NoError(t, err)
	require.Equal(t, "modified a, symlink abs", told(list))
	require.Equal(t, filepath.Join(w.root, "a"), list[1].After.Target)
}

func TestInclude(t *testing.T) {
	w := newWorld(t).repo()
	w.write(".env", "KEY=1\n")
	w.write("web/.env", "KEY=2\n")
	w.write("build/out", "x")
	w.write("node_modules/m/index.js", "x")
	c := w.make(Options{Include: []string{".env", "node_modules"}})
	require.Equal(t, "KEY=2\n", read(t, c.Path(), "web/.env"))
	require.NoDirExists(t, filepath.Join(c.Path(), "build"))
	require.Equal(t, "x", read(t, c.Path(), "node_modules/m/index.js"))
	require.Equal(t, status(t, w.root), status(t, c.Path()))
	require.Empty(t, w.changed(c))
	w.write(".env", "KEY=3\n")
	require.Equal(t, "modified .env", w.takeOver(c))
	require.NoError(t, os.RemoveAll(filepath.Join(w.root, "web")))
	require.Equal(t, "deleted web/.env", w.takeOver(c))
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.write("a", "12345")
	w.write("b", "12345")
	_, err := Make(t.Context(), w.root, w.dir, Options{MaxFiles: 1})
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `isolation "none"`)
	_, err = Make(t.Context(), w.root, w.dir, Options{MaxBytes: 9})
	require.ErrorIs(t, err, ErrTooLarge)
	require.NoDirExists(t, w.dir, "nothing is left behind")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Make(ctx, w.root, w.dir, Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Make(t.Context(), "/", w.dir, Options{})
	require.ErrorIs(t, err, ErrTooWide)
	_, err = Make(t.Context(), w.root, filepath.Join(w.root, "copies", "s"), Options{})
	require.ErrorIs(t, err, ErrTooWide)
	home := filepath.Join(w.root, "home")
	require.NoError(t, os.Mkdir(home, 0o755))
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, root := range []string{home, w.root} {
		_, err = Make(t.Context(), root, w.dir, Options{})
		require.ErrorIs(t, err, ErrTooWide)
	}
	_, err = Open(w.dir, Options{})
	require.ErrorIs(t, err, ErrNotACopy)
	project := filepath.Join(home, "project")
	require.NoError(t, os.Mkdir(project, 0o755))
	_, err = Make(t.Context(), project, w.dir, Options{})
	require.NoError(t, err)
	other := filepath.Join(home, "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	_, err = Make(t.Context(), other, w.dir, Options{})
	require.ErrorIs(t, err, ErrOtherRoot)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, metaName, tableName), []byte("x"), 0o600))
	_, err = Make(t.Context(), project, w.dir, Options{})
	require.ErrorIs(t, err, ErrDamaged)
}

// TestBothSides edits both sides at random. A change of one side is never lost and never reported for the wrong side, and
// changes of both are reported as pending. In the end, with nothing pending, both sides are equal.
func TestBothSides(t *testing.T) {
	names := []string{"a", "b", "d/a", "d/b", "d/e/a", "f"}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.t = t
		if rapid.IntRange(0, 4).Draw(rt, "git") == 0 {
			w.git("init", "-q")
		}
		edit := func(dir string) {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			full := filepath.Join(dir, name)
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				os.RemoveAll(full)
				return
			}
			os.RemoveAll(full)
			write(t, dir, name, rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "content"))
		}
		for range 4 {
			edit(w.root)
		}
		c := w.make(Options{})
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 3).Draw(rt, "agent") {
				edit(c.Path())
			}
			agents, err := c.Changed(t.Context())
			require.NoError(rt, err)
			held := map[string]string{}
			for _, ch := range agents {
				held[ch.Path] = content(c.Path(), ch.Path)
			}
			for range rapid.IntRange(0, 3).Draw(rt, "user") {
				edit(w.root)
			}
			users := tree(t, w.root, true)
			if rapid.Bool().Draw(rt, "restart") {
				c, err = Open(w.dir, Options{})
				require.NoError(rt, err)
			}
			list, err := c.TakeOver(t.Context())
			require.NoError(rt, err)
			require.Equal(rt, users, tree(t, w.root, true), "the workspace is only read")
			pending := map[string]bool{}
			for _, ch := range list {
				_, agent := held[ch.Path]
				pending[ch.Path] = ch.Pending
				if ch.Pending {
					continue
				}
				require.False(rt, agent, "%s was the agent's", ch.Path)
				require.Equal(rt, content(w.root, ch.Path), content(c.Path(), ch.Path))
			}
			for p, was := range held {
				require.Equal(rt, was, content(c.Path(), p), "%s was the agent's", p)
			}
			left, err := c.Changed(t.Context())
			require.NoError(rt, err)
			now := map[string]bool{}
			for _, ch := range left {
				now[ch.Path] = true
				require.Contains(rt, held, ch.Path, "told of the agent")
			}
			for _, name := range names {
				if !now[name] && !pending[name] {
					require.Equal(rt, content(w.root, name), content(c.Path(), name), name)
				}
			}
			for p := range pending {
				if pending[p] && rapid.Bool().Draw(rt, "merge") {
					require.NoError(rt, c.TookIn(p))
				}
			}
		}
		for _, name := range names { // drops all changes of the agent
			os.RemoveAll(filepath.Join(c.Path(), name))
		}
		for _, name := range names {
			if s := content(w.root, name); s != "" {
				write(t, c.Path(), name, s)
			}
		}
		for _, name := range names {
			require.NoError(rt, c.TookIn(name))
		}
		list, err := c.TakeOver(t.Context())
		require.NoError(rt, err)
		require.Empty(rt, list)
		list, err = c.Changed(t.Context())
		require.NoError(rt, err)
		require.Empty(rt, list)
	})
}

// content returns a file's content, or "" if there is no file.
func content(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(b)
}
