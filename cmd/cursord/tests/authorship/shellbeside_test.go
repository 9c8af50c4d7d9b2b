//go:build unix

package authorship

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestUserAndShell has a person save files before, between and beside an agent's commands.
func TestUserAndShell(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{false, true} {
		t.Run(map[bool]string{true: "git", false: "no git"}[repo], func(t *testing.T) {
			w := world.New(t)
			v := world.Numbered(20, nil)
			w.PutAll(world.Tree{"a": v, "b": v, "c": v, "both": v})
			if repo {
				w.Commits()
			}
			pause := `{"fake":"sleep","ms":500}` // longer than a busy machine is behind
			one, two := world.Shells("1", "sed -i 's/^line 3$/three/' a both"), world.Shells("2", "sed -i 's/^line 15$/fifteen/' a both")
			w.Plays(world.Lines(
				[]string{`{"type":"assistant","message":{"content":[{"type":"text","text":"one"}]}}`, world.Waits("1"), pause},
				one[:1], []string{pause}, one[1:], // the daemon sees the person's save before the command writes over it
				[]string{pause, `{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]}}`, world.Waits("2"), pause},
				two[:1], []string{pause}, two[1:])...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(nil)
			said := func(n int) {
				e.Until("text", func(world.Notification) bool { return len(e.Said(turn.ID, sessions.ItemAssistant)) == n })
			}
			said(1)
			w.Put("b", "mine\n"+v)
			w.Put("both", "mine\n"+v)
			w.Put("mine", "m\n")
			w.Put("../1", "")
			said(2)
			w.Put("c", "mine\n"+v)
			w.Put("both", w.Get("both")+"mine too\n")
			w.Put("../2", "")
			e.Ends(turn.ID)
			found := e.Diffs()
			require.Len(t, found, 2)
			require.Equal(t, []string{"shell", "shell"}, world.Vias(found["a"]))
			require.Equal(t, []string{"shell", "shell"}, world.Vias(found["both"]))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"a": v, "b": "mine\n" + v, "c": "mine\n" + v, "both": "mine\n" + v + "mine too\n", "mine": "m\n"})
		})
	}
}

// TestEditsAndShells mixes both on one file, over two turns.
func TestEditsAndShells(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	v0 := world.Numbered(30, nil)
	v1 := world.Numbered(30, map[int]string{5: "five\n"})
	v2 := world.Numbered(30, map[int]string{5: "five\n", 25: "25\n"})
	w.Put("f", v0)
	w.Put("g", "g\n")
	w.Commits()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w.Plays(world.Lines(
		world.Edits("e", "f", v0, v1), pause, world.Shells("s", "sed -i 's/^line 25$/25/' f; echo x >> g"),
		world.Edits("h", "h", "(absent)", "h\n"), world.Shells("t", "rm h; echo x >> g"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, []string{"edit", "shell"}, world.Vias(found["f"]))
	require.Equal(t, []string{"f", "g"}, world.Sorted(world.Keys(found)))
	e.Decides("diff/accept", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": v2, "g": "g\nx\nx\n"})

	// Between the turns a person writes to a file that is no longer under review.
	w.Put("f", "mine\n"+v2)
	w.Plays(world.Lines(world.Shells("s", "sed -i s/five/FIVE/ f"))...)
	e.Turn(nil)
	require.Len(t, e.Diffs(), 1)
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "mine\n" + v2})
}

func TestShellAtHome(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../a", "a\n")
	w.Root = w.Dir
	w.Plays(world.Lines(world.Edits("e", "b", "(absent)", "b\n"), world.Shells("s", "echo x >> a"), world.Shells("t", "echo x >> a"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{"b"}, world.Keys(e.Diffs()))
	require.Equal(t, []string{"Changes by commands are not searched for in this workspace: it contains the home directory."},
		e.Said(turn.ID, sessions.ItemNotice))
}

func TestShellNameThatIsNoText(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	name := w.Path("a\xff")
	if err := os.WriteFile(name, []byte("a\n"), 0o644); err != nil {
		t.Skip("the file system takes no such names")
	}
	w.Commits()
	w.Plays(world.Lines(world.Shells("s", "for f in a*; do echo x >> $f; done; echo b > b"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{"b"}, world.Keys(e.Diffs()))
	require.Equal(t, "1 change cannot be reviewed: a\uFFFD: its name is not UTF-8", e.Notices(turn.ID))
}

// TestShellLinks has commands remove links and replace files and folders by links.
func TestShellLinks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"f": "f\n", "d/f": "d\n", "g": "g\n", "../out/f": "out\n"})
	require.NoError(t, os.Symlink("f", w.Path("l")))
	require.NoError(t, os.Symlink("f", w.Path("m")))
	w.Commits()
	w.Plays(world.Lines(world.Shells("s", "rm l; rm m; echo m > m; rm g; ln -s f g; rm -r d; ln -s ../out d; echo x >> f"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, "deleted", string(found["d/f"].Kind), "what is behind a link is not the workspace's")
	require.Equal(t, "modified", string(found["f"].Kind))
	if d := found["m"]; d.Kind != "symlink" {
		require.Equal(t, "unknown", d.Baseline)
	}
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "f\n", "../out/f": "out\n"})
}

// TestANewFileWithTheNumberOfADeletedOne has a command delete a file, and a person make another at once. Most file systems
// give the new file the inode number of the deleted one. The deletion is listed all the same.
func TestANewFileWithTheNumberOfADeletedOne(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\nb\n")
	w.Commits()
	script := world.Shells("s", "rm f")
	w.Plays(world.Lines(script, []string{world.Execs("sleep 0.05; echo mine > g")})...) // not in the tick of the file system's clock in which the command ends
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	d := e.Diffs()["f"]
	require.NotNil(t, d)
	// By name: whether f went before or after the end of the command is not seen if the daemon looks after g was made.
	e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d)})
	w.RequireTree(world.Tree{"f": "a\nb\n", "g": "mine\n"})
}
