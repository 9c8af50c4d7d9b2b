//go:build unix

package nvim

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// hunksOf waits until a file's buffer shows this many hunks.
func (n *nvim) hunksOf(path string, count int) {
	n.t.Helper()
	n.until(path+" with its hunks", `local path, count = ...
		local d = vim.b[vim.fn.bufnr('^' .. path .. '$')].cursord_status_dict
		return (d and d.pending or 0) == count`, n.w.Path(path), count)
}

// agree requires that a file's buffer, the disk and the daemon's list agree.
func (n *nvim) agree(e *world.Editor, path, want string, hunks int) {
	n.t.Helper()
	n.untilText(path, want)
	n.poll("the disk", func() bool { return n.w.Get(path) == want })
	n.hunksOf(path, hunks)
	listed := 0
	if d := e.Diffs()[path]; d != nil {
		listed = len(d.Hunks)
	}
	require.Equal(n.t, hunks, listed)
	require.Equal(n.t, false, n.lua("return vim.bo[vim.fn.bufnr('^' .. ... .. '$')].modified", n.w.Path(path)))
}

const saysDone = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"It is **done**, see ` + "`f`" + `.\n"}]}}`

// TestNvimMainJob asks about a selection and reviews the changes. It compares windows, disk and daemon at each step.
func TestNvimMainJob(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		change := func(lines map[int]string) string { return world.Numbered(30, lines) }
		five, fifteen := "agent 5\n", "agent 15a\nagent 15b\n"
		after := change(map[int]string{5: five, 15: fifteen})
		w.PutAll(world.Tree{"f": before, "g": "one\ntwo\nthree\n"})
		w.Plays(world.Lines(world.Edits("1", "f", before, after), world.Edits("2", "g", "one\ntwo\nthree\n", "one\n2\nthree\n"), []string{saysDone})...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.keys("4GVj")
		n.keys(":Cursord ask what is this?<CR>")
		n.untilScreen("It is done")
		require.Equal(t, `<context>
<selection path="f" lines="4-5">
line 4
line 5
</selection>
</context>

what is this?`, strings.TrimSpace(w.Runs()[0].Prompt))
		n.agree(e, "f", after, 2)
		require.Equal(t, w.Path("f"), n.lua("return vim.api.nvim_buf_get_name(0)"), "the focus stays")
		require.Equal(t, 4.0, n.lua("return vim.fn.line('.')"), "the cursor stays")
		n.hears("cursord: 3 hunks in 2 files; :Cursord next goes there")
		require.Contains(t, n.screen(), "  line 4  ")
		require.Contains(t, n.screen(), "  line 5  ")
		require.Contains(t, n.screen(), "┃ agent 5  ")

		// An accept leaves the text, and goes to the next hunk.
		n.keys("5G")
		n.ex("Cursord accept")
		n.agree(e, "f", after, 1)
		n.until("the next hunk", "return vim.fn.line('.') == 15")
		// A reject changes the disk and the buffer.
		n.ex("Cursord reject")
		n.agree(e, "f", change(map[int]string{5: five}), 0)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)
		n.ex("Cursord redo")
		n.agree(e, "f", change(map[int]string{5: five}), 0)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)
		// A visual range decides the lines in it.
		n.keys("16GV:Cursord reject<CR>")
		n.agree(e, "f", change(map[int]string{5: five, 15: "agent 15a\n"}), 1)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)

		// The next file.
		n.ex("Cursord next")
		require.Equal(t, []any{w.Path("g"), 2.0}, n.lua("return { vim.api.nvim_buf_get_name(0), vim.fn.line('.') }"))
		n.hunksOf("g", 1)
		n.ex("Cursord prev")
		require.Equal(t, []any{w.Path("f"), 15.0}, n.lua("return { vim.api.nvim_buf_get_name(0), vim.fn.line('.') }"))
		n.ex("Cursord reject!")
		n.agree(e, "f", change(map[int]string{5: five}), 0)
		n.agree(e, "g", "one\ntwo\nthree\n", 0)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)
		n.agree(e, "g", "one\n2\nthree\n", 1)
		n.ex("Cursord accept!")
		n.agree(e, "f", after, 0)
		n.agree(e, "g", "one\n2\nthree\n", 0)
		n.quiet()
	})
}

// TestNvimUndoBringsTheHunkBack rejects in a saved buffer, and takes that back with "u".
func TestNvimUndoBringsTheHunkBack(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: ""})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after, 2)
		n.keys("5G")
		n.ex("Cursord reject")
		n.agree(e, "f", world.Numbered(30, map[int]string{15: ""}), 1)
		n.keys("u")
		n.untilText("f", after)
		n.hunksOf("f", 2)
		n.agree(e, "f", after, 2)

		// Another decision was made in between, and stays.
		n.ex("Cursord reject")
		n.agree(e, "f", world.Numbered(30, map[int]string{15: ""}), 1)
		e.Decides("diff/accept", world.Obj{"all": true})
		n.hunksOf("f", 0)
		n.keys("u")
		n.untilText("f", after)
		n.hunksOf("f", 1)
		require.Equal(t, world.Numbered(30, map[int]string{15: ""}), w.Get("f"))
		n.ex("write")
		n.agree(e, "f", after, 1)
		n.quiet()
	})
}

// TestNvimListAndOperators decides by the keys of the quickfix list, by operators, text objects and ".", and opens the diff
// of a file.
func TestNvimListAndOperators(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(40, nil)
		changed := map[int]string{5: "agent 5\n", 12: "agent 12\n", 20: "agent 20\n", 30: "agent 30\n", 38: "agent 38a\nagent 38b\n"}
		but := func(gone ...int) string {
			rest := maps.Clone(changed)
			for _, n := range gone {
				delete(rest, n)
			}
			return world.Numbered(40, rest)
		}
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, but()), world.Edits("2", "new", "(absent)", "a\nb\n"))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, `vim.g.cursord = { review = { after_decide = 'stay' }, chat = { open_on_ask = false } }
			vim.keymap.set({ 'n', 'x' }, 'ga', '<Plug>(cursord-accept)')
			vim.keymap.set({ 'n', 'x' }, 'gr', '<Plug>(cursord-reject)')
			vim.keymap.set('n', 'gR', '<Plug>(cursord-reject-operator)')
			vim.keymap.set({ 'n', 'x', 'o' }, ']a', '<Plug>(cursord-next)')
			vim.keymap.set({ 'x', 'o' }, 'ah', '<Plug>(cursord-inner-hunk)')
			vim.ui.input = function(opts, done) done(opts.prompt == 'Comment: ' and 'why?' or nil) end`, "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", but(), 5)
		n.keys("gg2]a")
		n.until("the second hunk", "return vim.fn.line('.') == 12")
		n.keys("gr")
		n.agree(e, "f", but(12), 4)
		n.keys("20G.")
		n.agree(e, "f", but(12, 20), 3)
		n.ex("Cursord undo")
		n.agree(e, "f", but(12), 4)
		n.keys("25GgR10j")
		n.agree(e, "f", but(12, 30), 3)
		n.keys("38Gyah")
		n.until("the hunk as an object", `return vim.fn.getreg('"') == 'agent 38a\nagent 38b\n'`)

		n.ex("Cursord review")
		require.Equal(t, "quickfix", n.lua("return vim.bo.buftype"), "its keys act at once")
		n.untilScreen("f|5| +1 -1  +agent 5")
		require.Contains(t, n.screen(), "Cursord review: a accept · r reject · g? keys")
		n.keys("g?")
		n.untilScreen("│d  side by side")
		n.keys("q")
		n.until("the keys are closed", "return #vim.api.nvim_list_wins() == 2")
		require.Contains(t, n.screen(), "f|38| +2 -1  +agent 38a")
		require.Contains(t, n.screen(), "new|1| created (+2 -0)")
		n.keys("2Gr")
		n.agree(e, "f", but(12, 30, 20), 2)
		n.until("the list", "return #vim.fn.getqflist() == 3 and vim.fn.line('.') == 2")
		n.keys("Gu")
		n.agree(e, "f", but(12, 30), 3)
		n.until("the list, and the cursor on the entry that is back", "return #vim.fn.getqflist() == 4 and vim.fn.line('.') == 2")
		n.keys("1Gca")
		n.agree(e, "f", but(12, 30), 2)
		n.until("the list", "return #vim.fn.getqflist() == 3")
		n.keys("Gr")
		n.poll("the new file is gone", func() bool { return w.Get("new") == "(absent)" })

		n.keys("1Gd")
		n.until("two windows that differ", "return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff")
		base := n.lua(`vim.cmd('wincmd h') local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
			vim.cmd('wincmd l') return text`)
		require.Equal(t, world.Numbered(40, map[int]string{5: "agent 5\n"}), base, "what was accepted is the baseline")
		n.keys("20Gdo")
		n.untilText("f", but(12, 30, 20))
		n.hunksOf("f", 1)
		n.ex("write")
		n.agree(e, "f", but(12, 30, 20), 1)
		n.ex("tabclose")

		n.ex("wincmd t | 38Cursord preview")
		n.untilScreen("+agent 38a")
		n.ex("38Cursord comment or so | so")
		n.untilScreen("the agent gets this with its next prompt")
		w.Plays(world.Done)
		n.ex("Cursord ask next")
		n.poll("the remarks", func() bool {
			return len(w.Runs()) == 2 && strings.Contains(w.Runs()[1].Prompt, "why?") && strings.Contains(w.Runs()[1].Prompt, "or so | so")
		})
		n.quiet()
		for command, why := range map[string]string{
			"3Cursord undo": `no range allowed before "undo"`, "Cursord undo all": `"undo" takes no argument: all`, "Cursord next!": `no ! allowed after "next"`,
			"Cursord review f": `"f" is neither file nor all`, "Cursord accept f": `"f" is neither hunk, both, file nor all`,
			"Cursord reject both": `"both" is neither hunk, file nor all`, "Cursord accept! file": `"accept!" is about all hunks: leave out the ! or "file"`,
			"Cursord next f": `"f" is no number of hunks`,
		} {
			n.ex(command)
			told := n.lua("local why = ... return #vim.tbl_filter(function(s) return s.text == why end, said)", "cursord: "+why)
			require.EqualValues(t, 1, told, "%s\n%s", why, n.messages())
		}
		require.Len(t, e.Diffs(), 1)
	})
}

// TestNvimDrawsWhatIsInSight scrolls in a long file with many hunks: those in sight are drawn.
func TestNvimDrawsWhatIsInSight(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		changes, gone := map[int]string{}, 0
		for i := 1; i <= 3000; i += 10 {
			changes[i] = fmt.Sprintf("agent %d\n", i)
			if i%3 == 0 {
				changes[i] = ""
				gone++
			}
		}
		before, after := world.Numbered(3000, nil), world.Numbered(3000, changes)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 300)
		drawn := func() int {
			return int(n.lua(`return #vim.tbl_filter(function(m) return m[4].virt_lines end,
				vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().cursord_words, 0, -1, { details = true }))`).(float64))
		}
		n.untilScreen("\n  line 11\n")
		n.poll("that no message says that the turn runs", func() bool { return !strings.Contains(n.screen(), "cursord: running") })
		require.Less(t, drawn(), 30)
		// The same screen comes when all hunks have been drawn before.
		look := func() []any {
			return []any{n.screen(), n.lua("return { vim.fn.winline(), vim.fn.line('.'), vim.fn.line('w0') }")}
		}
		for _, keys := range []string{"1500G", "G", "gg", "<C-f><C-f><C-f><C-f><C-f>", "2000Gzt", "800Gzb", ":call search('agent 2491')<CR>", ":2200Cursord next<CR>"} {
			n.keys(keys)
			n.until("what was typed", "return vim.fn.getchar(1) == 0")
			require.Contains(t, look()[0], "agent", keys)
			have := look()
			n.ex("redraw!")
			require.Equal(t, look(), have, keys)
			require.Regexp(t, `(?m)^  line \d*1$`, have[0], keys)
		}
		require.Less(t, drawn(), 200)
		n.ex("Cursord reject!")
		n.agree(e, "f", before, 0)
		require.Zero(t, drawn())
		n.ex("Cursord undo")
		n.agree(e, "f", after, 300)
		n.quiet()
	})
}
