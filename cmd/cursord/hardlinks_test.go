package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestRejectWritesThroughNoPlantedLink has the agent give files of the workspace other names, and names of the workspace to
// other files. What a reject and its undo write stays in the workspace, unless a person had made the link.
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
				w := newWorld(t)
				w.put("a.txt", "1\n2\n3\n")
				w.put("b.txt", "b\n")
				w.put("../outside/x", "precious\n")
				w.makes("chmod 644 ../outside/x; " + c.before)
				w.commits()
				before := w.listing()
				w.start()
				e := w.opens()
				w.plays(lines(shells("s", c.does))...)
				require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
				require.Contains(t, e.diffs(), "a.txt")
				after, xMode := w.listing(), permOf(t, w.path("../outside/x"))
				if again {
					w.kill()
					w.start()
					e = w.opens()
				}
				require.Empty(t, e.decides("diff/reject", obj{"all": true}).Skipped)
				require.Equal(t, before, w.listing())
				require.Equal(t, c.x, w.get("../outside/x"))
				if !c.same {
					require.Equal(t, xMode, permOf(t, w.path("../outside/x")))
				}
				a, err := os.Stat(w.path("a.txt"))
				require.NoError(t, err)
				x, err := os.Stat(w.path("../outside/x"))
				require.NoError(t, err)
				require.Equal(t, c.same, os.SameFile(a, x))
				e.must("diff/undo", obj{"workspace": w.ws}, nil)
				require.Equal(t, after, w.listing())
				if !c.same {
					require.Equal(t, c.x, w.get("../outside/x"))
				}
			})
		}
	}
}

func permOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

// TestCopyWritesThroughNoLink has an agent link a file of its copy to another place. What a person types, which the daemon
// brings into the copy, does not get there; and what is accepted keeps a person's links, and no others.
func TestCopyWritesThroughNoLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", numbered(20, nil))
	w.put("b.txt", numbered(20, nil))
	w.put("c.txt", "c\n")
	w.put("../outside/x", "x\n")
	w.put("../outside/precious", "precious\n")
	w.makes("ln a.txt ../outside/mine")
	w.commits()
	w.start()
	e := w.opens()
	s := e.isolates()
	w.plays(lines(shells("s", "echo agent >>b.txt; ln -f b.txt "+w.path("../outside/x")+"; echo agent >>a.txt; echo agent >>c.txt; rm "+w.path("c.txt")+"; ln "+w.path("../outside/precious")+" "+w.path("c.txt")))...)
	e.ok(s)
	w.put("b.txt", "mine\n"+numbered(20, nil))
	require.Contains(t, e.diffs(), "b.txt")
	require.Equal(t, "mine\n"+numbered(20, nil)+"agent\n", w.copied(s, "b.txt"))
	require.Equal(t, numbered(20, nil)+"agent\n", w.get("../outside/x"))
	e.decides("diff/accept", obj{"all": true})
	require.Equal(t, "precious\n", w.get("../outside/precious"))
	require.Equal(t, numbered(20, nil)+"agent\n", w.get("a.txt"))
	require.Equal(t, numbered(20, nil)+"agent\n", w.get("../outside/mine"), "a person's link")
}
