//go:build unix

package nvim

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// modified reports whether the buffer of a file has unsaved changes.
func (n *nvim) modified(path string) bool {
	n.t.Helper()
	return n.lua("return vim.bo[vim.fn.bufnr('^' .. ... .. '$')].modified", n.w.Path(path)).(bool)
}

// rowsOf returns the first lines, from 1, of the hunks that a buffer shows.
func (n *nvim) rowsOf(path string) []any {
	n.t.Helper()
	return n.lua(`local rows = vim.empty_dict()
		rows = {}
		for i, p in ipairs(require('cursord.review.places').places(vim.fn.bufnr('^' .. ... .. '$'))) do
			rows[i] = p.first + 1
		end
		return #rows > 0 and rows or nil`, n.w.Path(path)).([]any)
}

func (n *nvim) untilRows(path string, want ...any) {
	n.t.Helper()
	var have []any
	n.poll("hunks at their lines", func() bool {
		have = n.rowsOf(path)
		if len(have) != len(want) {
			return false
		}
		for i := range want {
			if have[i] != float64(want[i].(int)) {
				return false
			}
		}
		return true
	})
}

// TestNvimUnsavedText decides in a buffer with changes above, below and inside of hunks. Rejects are edits of the buffer,
// each one step for undo; the file stays until the buffer is saved.
func TestNvimUnsavedText(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { review = { after_decide = 'stay' } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after, 3)
		n.untilRows("f", 5, 15, 26)

		n.keys("ggOmine above<Esc>")
		n.untilRows("f", 6, 16, 27)
		n.keys("16Goinside<Esc>")
		n.keys("Goat the end<Esc>")
		typed := "mine above\n" + strings.Replace(after, "agent 15a\n", "agent 15a\ninside\n", 1) + "at the end\n"
		n.untilText("f", typed)
		n.hunksOf("f", 4)
		n.untilRows("f", 6, 16, 18, 28)

		n.ex("6Cursord reject")
		want := strings.Replace(typed, "agent 5\n", "line 5\n", 1)
		n.untilText("f", want)
		n.hunksOf("f", 3)
		require.Equal(t, after, w.Get("f"), "nothing is written")
		require.True(t, n.modified("f"))
		n.keys("u")
		n.untilText("f", typed)
		n.hunksOf("f", 4)
		n.keys("<C-r>")
		n.untilText("f", want)
		n.hunksOf("f", 3)
		n.ex("Cursord undo")
		n.untilText("f", typed)
		n.hunksOf("f", 4)
		n.ex("Cursord redo")
		n.untilText("f", want)
		n.hunksOf("f", 3)

		// Decided right after typing, before Neovim has reported the text.
		n.lua(`vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'one more' })
			vim.cmd('17Cursord reject')`)
		want = "one more\n" + strings.Replace(want, "agent 15a\n", "line 15\n", 1)
		n.untilText("f", want)
		n.hunksOf("f", 2)
		n.ex("write")
		n.poll("saved", func() bool { return w.Get("f") == want })
		n.agree(e, "f", want, 2)
		n.ex("Cursord accept!")
		n.agree(e, "f", want, 0)
		n.quiet()
	})
}

// TestNvimAgentWritesWhatIsUnsaved has the agent write a file whose buffer has changes. The agent's changes come into the
// buffer, as one step for undo, and are under review there.
func TestNvimAgentWritesWhatIsUnsaved(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n", 5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.keys("Gomine<Esc>")
		n.untilText("f", before+"mine\n")
		n.ex("Cursord ask do it")
		n.untilText("f", after+"mine\n")
		n.hunksOf("f", 2)
		require.True(t, n.modified("f"))
		require.Equal(t, after, w.Get("f"), "the file is the agent's")
		require.Len(t, e.Diffs()["f"].Hunks, 2)
		n.keys("u")
		n.untilText("f", before+"mine\n")
		n.hunksOf("f", 0)
		n.keys("<C-r>")
		n.untilText("f", after+"mine\n")
		n.hunksOf("f", 2)
		n.ex("3Cursord reject")
		n.untilText("f", strings.Replace(after, "agent 3\n", "line 3\n", 1)+"mine\n")
		n.hunksOf("f", 1)
		n.ex("write")
		n.agree(e, "f", strings.Replace(after, "agent 3\n", "line 3\n", 1)+"mine\n", 1)
		n.quiet()
	})
}

// TestNvimConflicts has the agent change a line that has unsaved changes in a buffer.
func TestNvimConflicts(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		command, text string
		back          string // what "u" leaves after the write: the file with the agent's line under review, or the text with the conflict
	}{
		{"5Cursord reject", "mine 5\n", "^agent 5\n$"}, {"5Cursord accept", "agent 5\n", "^(mine|agent) 5\n$"},
		{"5|Cursord accept both", "mine 5\nagent 5\n", "^mine 5\nagent 5\n$"}, {"write!", "mine 5\n", ""},
	} {
		t.Run(one.command, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w := world.New(t)
				before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{5: "agent 5\n", 8: "agent 8\n"})
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
				w.Start()
				e := w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
				n.keys("5Gccmine 5<Esc>")
				n.ex("Cursord ask do it")
				n.untilText("f", strings.Replace(after, "agent 5\n", "mine 5\n", 1))
				n.hunksOf("f", 2)
				n.ex(one.command)
				want := strings.Replace(after, "agent 5\n", one.text, 1)
				n.untilText("f", want)
				n.hunksOf("f", 1)
				n.ex("write")
				n.agree(e, "f", want, 1)
				if one.command != "write!" {
					n.keys("u")
					n.poll("the decision", func() bool { return strings.Contains(n.screen(), "is taken back; 2 hunks left in 1 file") })
					n.poll("the text", func() bool {
						_, text, _ := strings.Cut(n.text("f"), "line 4\n")
						text, _, _ = strings.Cut(text, "line 6\n")
						return regexp.MustCompile(one.back).MatchString(text)
					})
					n.hunksOf("f", 2)
				} else {
					require.Contains(t, n.messages(), "cursord: kept your lines; :Cursord undo brings the agent's back")
					w.CursordOK("undo", "--workspace", w.Root)
					require.Contains(t, w.Get("f"), "agent 5\n", "what a save took away is back")
					require.Contains(t, e.Diffs()["f"].Hunks[0].Lines, "-mine 5")
					w.CursordOK("redo", "--workspace", w.Root)
					require.Equal(t, want, w.Get("f"))
				}
			})
		})
	}
}

// TestNvimCursorStaysAtItsText has lines inserted and deleted above the cursor.
func TestNvimCursorStaysAtItsText(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(200, nil)
		after := world.Numbered(200, map[int]string{5: "a\nb\nc\nd\n", 20: ""})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.keys("120Gzt125G4l")
		at := func() any { return n.lua("return { vim.fn.getline('w0'), vim.fn.getline('.'), vim.fn.col('.') }") }
		want := []any{"line 120", "line 125", 5.0}
		require.Equal(t, want, at())
		n.ex("Cursord ask do it")
		n.agree(e, "f", after, 2)
		require.Equal(t, want, at())
		n.ex("Cursord reject!")
		n.agree(e, "f", before, 0)
		require.Equal(t, want, at())
		// While somebody types, Neovim cannot read the file again. The typed text stays, and so does Insert mode.
		// The undo comes before Neovim can report what is typed: it reports nothing while it waits for the command.
		n.keys("i")
		n.until("insert mode", "return vim.api.nvim_get_mode().mode == 'i'")
		require.Equal(t, 0.0, n.lua("vim.api.nvim_put({ 'text' }, 'c', false, true) vim.fn.system({ 'cursord', 'undo' }) return vim.v.shell_error"))
		n.poll("the disk", func() bool { return w.Get("f") == after })
		n.keys(" more<Esc>")
		n.until("what was typed", "return vim.api.nvim_get_current_line() == 'linetext more 125'")
		n.quiet()
	})
}

// TestNvimOddFiles reviews files without a final line end, with CR LF, with a byte order mark, created and deleted ones.
func TestNvimOddFiles(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"crlf": "a\r\nb\r\nc\r\n", "bom": "\ufeffone\ntwo\n", "noeol": "x\ny", "new": "(absent)", "gone": "was\nhere\n", "top": "1\n2\n3\n"}
		after := world.Tree{"crlf": "a\r\nB\r\nc\r\nd\r\n", "bom": "\ufeffONE\ntwo\n", "noeol": "x\nY", "new": "brand\nnew\n", "gone": "(absent)", "top": "2\n3\n"}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "crlf", "bom", "noeol", "gone", "top")
		n.lua("for _, f in ipairs(vim.fn.argv()) do vim.cmd.edit(f) end vim.cmd.edit('new')")
		n.turn("do it")
		for path, text := range after {
			if text != "(absent)" {
				n.untilText(path, strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(text, "\n")+"\n", "\r", ""), "\ufeff"))
				n.until("its hunks", "return #require('cursord.review.places').places(vim.fn.bufnr('^' .. ... .. '$')) > 0", w.Path(path))
				require.NotEmpty(t, n.rowsOf(path), path)
			}
		}
		n.ex("edit top")
		n.untilScreen("▔ 2")
		require.Contains(t, n.screen(), "  1  ", "what was deleted at the top shows")
		n.ex("Cursord reject!")
		n.poll("the disk", func() bool { return len(e.Diffs()) == 0 })
		w.RequireTree(before)
		for path, text := range before {
			if path != "new" {
				n.untilText(path, strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(text, "\n")+"\n", "\r", ""), "\ufeff"))
			}
		}
		// In buffers with changes.
		n.ex("Cursord undo")
		n.poll("the hunks again", func() bool { return len(e.Diffs()) == 6 })
		n.hunksOf("noeol", 1)
		n.ex("edit noeol")
		n.keys("ggOmine<Esc>")
		n.untilText("noeol", "mine\nx\nY\n")
		n.untilRows("noeol", 3)
		n.ex("3Cursord reject")
		n.untilText("noeol", "mine\nx\ny\n")
		n.ex("set nofixeol | write")
		n.poll("the disk", func() bool { return w.Get("noeol") == "mine\nx\ny" })
		n.ex("edit crlf")
		n.hunksOf("crlf", 2)
		n.keys("ggOmine<Esc>")
		n.untilText("crlf", "mine\na\nB\nc\nd\n")
		n.untilRows("crlf", 3, 5)
		n.ex("3Cursord reject")
		n.untilText("crlf", "mine\na\nb\nc\nd\n")
		n.ex("write")
		n.poll("the disk", func() bool { return w.Get("crlf") == "mine\r\na\r\nb\r\nc\r\nd\r\n" })
		n.quiet()
	})
}
