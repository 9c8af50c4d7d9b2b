//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimCountsOfThePresent decides hunks of moved, created and deleted files. Each message has the count of the hunks that
// are left.
func TestNvimCountsOfThePresent(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, verb := range []string{"reject", "accept"} {
			w := world.New(t)
			w.PutAll(world.Tree{"a": world.Numbered(20, nil), "gone": "x\n"})
			w.Plays(world.Lines(world.Shells("1", "mv a b; rm gone; echo new >new; chmod 755 new"))...)
			w.RepositoryIn(".", nil)
			w.Start()
			w.Trusts()
			n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }")
			n.ex("Cursord ask do it")
			n.hears("cursord: 3 hunks in 3 files; :Cursord next goes there")
			n.ex("Cursord review")
			n.untilScreen("b|1| renamed from a")
			n.untilScreen("new|1| created, mode 100755")
			n.ex("wincmd b")
			for _, left := range []string{"2 hunks left in 2 files", "1 hunk left in 1 file", "none left"} {
				n.keys(verb[:1])
				n.poll(left, func() bool {
					screen := n.screen()
					last := screen[strings.LastIndex(screen, "\n")+1:]
					if strings.HasPrefix(last, verb+"ed 1 hunk; ") {
						require.Equal(t, verb+"ed 1 hunk; "+left, last)
					}
					return last == verb+"ed 1 hunk; "+left
				})
				n.ex("echo ''")
			}
			n.keys("u")
			n.untilScreen("undone: the " + verb + " of 1 hunk in ")
			n.ex("Cursord " + verb + "!")
			n.untilScreen(verb + "ed 1 hunk; none left")
			n.quiet()
			n.kill()
		}
	})
}

// TestNvimCountsAMoveOnce rejects a move. The file's other hunks are then at its former name, and only they are counted.
func TestNvimCountsAMoveOnce(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a", world.Numbered(20, nil))
		w.Plays(world.Lines(world.Shells("1", "mv a b; sed 's/line 5/agent 5/' b >../t; cat ../t >b"))...)
		w.RepositoryIn(".", nil)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }")
		n.ex("Cursord ask do it")
		n.hears("cursord: 2 hunks in 1 file; :Cursord next goes there")
		n.ex("Cursord review")
		n.untilScreen("b|1| renamed from a")
		n.ex("wincmd b")
		n.keys("ggr")
		n.untilScreen("rejected 1 hunk; 1 hunk left in 1 file")
		n.untilScreen("a|5| +1 -1 by command  +agent 5")
		n.keys("ggr")
		n.untilScreen("rejected 1 hunk; none left")
		n.poll("nothing is left", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, world.Numbered(20, nil), w.Get("a"))
		n.quiet()
	})
}

// TestNvimCountsAConflictOnce rejects a conflict in which the agent has changed one more line than the person, alone and with all
// others: it is one hunk on the screen, and one in the messages.
func TestNvimCountsAConflictOnce(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 6: "agent 6\n", 20: "agent 20\n"})
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct{ command, says string }{
			{"5Cursord reject", "rejected 1 hunk; 1 hunk left in 1 file"},
			{"Cursord reject!", "rejected 2 hunks; none left; :Cursord undo brings them back"},
		} {
			n := conflicting(t, bin, before, after)
			n.hunksOf("f", 2)
			n.knowsTheMerge()
			n.ex(c.command)
			n.untilScreen(c.says)
			n.quiet()
			n.kill()
		}
	})
}
