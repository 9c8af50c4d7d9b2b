//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimMaybeYours marks a hunk that no call of the agent explains. A reject of several hunks leaves it alone; a reject of
// it alone takes it back.
func TestNvimMaybeYours(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		e, _ := w.Unexplained()
		n := neovim(w, t, bin, "", "notes.txt")
		n.ex("Cursord review | wincmd p | let g:listed = 1")
		n.until("it is connected", "return vim.g.listed == 1")
		n.hunksOf("notes.txt", 1)
		n.ex("Cursord review | wincmd p | let g:listed = 1")
		n.until("the list", `local list = vim.fn.getqflist()
			return #list == 3 and list[3].text == '+1 -1 (may be yours)  +twelve' and list[1].text == '+1 -1  +two'`)
		shown := n.screen()
		require.Contains(t, shown, "\n  may be yours: it is not surely the agent's\n  line 12\n? twelve\n")
		n.lua("vim.o.columns = 40") // as beside a chat
		n.untilScreen("\n  may be yours: it is not surely the\n  agent's\n  line 12\n? twelve\n")
		n.lua("vim.o.columns = 100")
		n.untilScreen("\n  may be yours: it is not surely the agent's\n  line 12\n? twelve\n")
		n.ex("11,13Cursord why")
		n.untilScreen("│line 12 ")
		require.Regexp(t, `│line 12 .*\n.*│may be yours: it is not surely the agent's *│.*\n.*│do it .*\n.*│pending · `, n.screen())
		n.keys("gg")
		n.ex("edit f")
		n.hunksOf("f", 2)
		require.NotContains(t, n.screen(), "may be yours: it is")
		n.ex("buffer notes.txt")
		n.ex("Cursord overlay")
		require.Contains(t, n.screen(), "? twelve")
		require.NotContains(t, n.screen(), "may be yours: it is", "only signs")
		n.ex("Cursord overlay")

		// A reject of all, of the file, or of a range with several hunks.
		n.ex("Cursord reject!")
		n.hears("cursord: rejected 2 hunks; 1 may be yours, reject each by itself: notes.txt:12")
		n.agree(e, "notes.txt", world.UnexplainedAfter["notes.txt"], 1)
		w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
		n.lua("said = {}")
		n.ex("Cursord reject file")
		n.hears("cursord: rejected nothing; 1 may be yours, reject each by itself: notes.txt:12")

		n.keys("12G")
		n.ex("Cursord reject")
		n.agree(e, "notes.txt", world.UnexplainedBefore["notes.txt"], 0)
		w.RequireTree(world.UnexplainedBefore)
		n.ex("Cursord undo")
		n.agree(e, "notes.txt", world.UnexplainedAfter["notes.txt"], 1)
		require.Contains(t, n.screen(), "may be yours: it is", "it is drawn as before")
	})
}

// TestNvimRangeLeavesWhatMayBeYours rejects all lines of a file with several such hunks, and then one hunk alone.
func TestNvimRangeLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PlaysUnexplained()
		w.Plays(world.Lines(world.Shells("s", "true"), []string{world.Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 18$/eighteen/' notes.txt")})...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		after := world.Numbered(20, map[int]string{2: "two\n", 18: "eighteen\n"})
		n := neovim(w, t, bin, "", "notes.txt")
		n.ex("Cursord review | wincmd p | let g:listed = 1")
		n.hunksOf("notes.txt", 2)
		n.until("the list", "return vim.g.listed == 1")
		n.ex("%Cursord reject")
		n.hears("cursord: rejected nothing; 2 may be yours, reject each by itself: notes.txt:2, notes.txt:18")
		n.agree(e, "notes.txt", after, 2)
		n.ex("10,20Cursord reject")
		n.agree(e, "notes.txt", world.Numbered(20, map[int]string{2: "two\n"}), 1)
	})
}

// TestNvimRejectOfNothingIsNoStep: a reject that left all hunks alone was a step of the undo history.
func TestNvimRejectOfNothingIsNoStep(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PlaysUnexplained()
		w.Put("new", "mine\n")
		w.Plays(world.Lines(world.Shells("s", "true"), []string{world.Execs("sleep 0.1; rm new; sed -i 's/^line 2$/two/' notes.txt")})...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "new")
		n.ex("Cursord review")
		e.Turn(nil)
		n.hunksOf("new", 1)
		n.ex("split notes.txt")
		n.hunksOf("notes.txt", 1)
		for _, one := range [][2]string{
			{"Cursord reject!", "rejected nothing; 2 may be yours, reject each by itself: new:1, notes.txt:2"},
			{"buffer new | Cursord reject file", "rejected nothing; 1 may be yours, reject each by itself: new:1"},
		} {
			n.ex(one[0])
			n.hears(one[1])
			require.Equal(t, []any{0.0, 0.0}, n.lua(`return vim.tbl_map(function(name)
				return vim.fn.undotree(vim.fn.bufnr(name)).seq_last
			end, { 'new', 'notes.txt' })`))
		}
	})
}

// TestNvimRejectOfWhatIsDecidedSaysSo rejects all hunks that were accepted in a terminal a moment ago: it said "rejected 0 hunks".
func TestNvimRejectOfWhatIsDecidedSaysSo(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Opens().Turn(nil)
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord review")
		n.hunksOf("f", 1)
		n.decided()
		n.lua(`local request = require('cursord.rpc').request
			require('cursord.rpc').request = function(method, ...)
				if method == 'diff/reject' then vim.fn.system({ 'cursord', 'accept', '--all' }) end
				return request(method, ...)
			end`)
		n.ex("Cursord reject!")
		n.untilScreen("nothing to reject any more")
		require.Equal(t, after, w.Get("f"))
		n.ex("Cursord dismiss all")
		n.untilScreen("nothing to dismiss: no file outside of the workspace is listed")
	})
}
