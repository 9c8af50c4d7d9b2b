//go:build unix

package review

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestRejectWritesThroughNoPlantedLink: the agent makes hard links between files of the workspace and other files. A reject
// and its undo write outside only through a person's link.
func TestRejectWritesThroughNoPlantedLink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, does string
		same               bool // "../outside/x" is one file with a.txt in the end
		x                  string
	}{
		{name: "the file is another's", does: "rm a.txt; ln ../outside/x a.txt", x: "precious\n"},
		{name: "the file is another's, and only its mode differs", before: "cat ../outside/x >a.txt; chmod 600 a.txt", does: "rm a.txt; ln ../outside/x a.txt", x: "precious\n"},
		{name: "the file moved, to another's", does: "mv a.txt n; rm b.txt; ln -f ../outside/x a.txt", x: "precious\n"},
		{name: "a name is given away", does: "echo x >>a.txt; ln -f a.txt ../outside/x", x: "1\n2\n3\nx\n"},
		{name: "a person's link", before: "ln -f a.txt ../outside/x", does: "echo x >>a.txt", same: true, x: "1\n2\n3\n"},
		{name: "a person's link, and its mode", before: "ln -f a.txt ../outside/x", does: "chmod 600 a.txt", same: true, x: "1\n2\n3\n"},
		{name: "a person's link, and another name", before: "ln -f a.txt ../outside/x", does: "echo x >>a.txt; ln a.txt ../outside/y", x: "1\n2\n3\nx\n"},
		{name: "a person's link of another file", before: "ln -f ../outside/x b.txt", does: "mv b.txt a.txt", x: "precious\n"},
	} {
		for _, again := range []bool{false, true} {
			name := c.name
			if again {
				name += ", after a restart"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("a.txt", "1\n2\n3\n")
				w.Put("b.txt", "b\n")
				w.Put("../outside/x", "precious\n")
				w.Makes("chmod 644 ../outside/x; " + c.before)
				w.Commits()
				before := w.Listing()
				w.Start()
				e := w.Opens()
				w.Plays(world.Lines(world.Shells("s", c.does))...)
				turn := e.Turn(nil)
				require.Equal(t, sessions.TurnCompleted, turn.Status)
				if beganEarly(e, turn) { // a person's link may be cut, but nothing is written that is not the workspace's
					require.NoError(t, e.Call("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil))
					if !c.same {
						require.Equal(t, c.x, w.Get("../outside/x"))
					}
					return
				}
				require.Contains(t, e.Diffs(), "a.txt")
				after, xMode := w.Listing(), permOf(t, w.Path("../outside/x"))
				if again {
					w.Kill()
					w.Start()
					e = w.Opens()
				}
				require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
				require.Equal(t, before, w.Listing())
				require.Equal(t, c.x, w.Get("../outside/x"))
				if !c.same {
					require.Equal(t, xMode, permOf(t, w.Path("../outside/x")))
				}
				a, err := os.Stat(w.Path("a.txt"))
				require.NoError(t, err)
				x, err := os.Stat(w.Path("../outside/x"))
				require.NoError(t, err)
				require.Equal(t, c.same, os.SameFile(a, x))
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, after, w.Listing())
				if !c.same {
					require.Equal(t, c.x, w.Get("../outside/x"))
				}
			})
		}
	}
}

// beganEarly reports whether a turn's agent may have begun before the snapshot was complete, as happens on a very busy machine: the prompt
// waits for it for 3 s at most. Files' names and contents from before the turn may then be unknown.
func beganEarly(e *world.Editor, turn *sessions.Turn) bool {
	e.T.Helper()
	for _, item := range e.Items(turn.ID) {
		if item.Kind == sessions.ItemTool {
			return item.StartedAt.Sub(turn.StartedAt.Time) > 2900*time.Millisecond
		}
	}
	e.T.Fatal("the turn made no call")
	return false
}

func permOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

// TestCopyWritesThroughNoLink: an agent links a file of its copy to another place. The daemon brings a person's lines into
// the copy, and not to that place; an accept keeps a person's links, and no others.
func TestCopyWritesThroughNoLink(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", world.Numbered(20, nil))
	w.Put("b.txt", world.Numbered(20, nil))
	w.Put("c.txt", "c\n")
	w.Put("../outside/x", "x\n")
	w.Put("../outside/precious", "precious\n")
	w.Makes("ln a.txt ../outside/mine")
	w.Commits()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(world.Lines(world.Shells("s", "echo agent >>b.txt; ln -f b.txt "+w.Path("../outside/x")+"; echo agent >>a.txt; echo agent >>c.txt; rm "+w.Path("c.txt")+"; ln "+w.Path("../outside/precious")+" "+w.Path("c.txt")))...)
	e.Ok(s)
	w.Put("b.txt", "mine\n"+world.Numbered(20, nil))
	require.Contains(t, e.Diffs(), "b.txt")
	require.Equal(t, "mine\n"+world.Numbered(20, nil)+"agent\n", w.Copied(s, "b.txt"))
	require.Equal(t, world.Numbered(20, nil)+"agent\n", w.Get("../outside/x"))
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, "precious\n", w.Get("../outside/precious"))
	require.Equal(t, world.Numbered(20, nil)+"agent\n", w.Get("a.txt"))
	require.Equal(t, world.Numbered(20, nil)+"agent\n", w.Get("../outside/mine"), "a person's link")
}
