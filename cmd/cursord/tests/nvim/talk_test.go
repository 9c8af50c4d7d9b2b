//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// picks answers each vim.ui.select with the choice that Lua names, and records the choices.
const picks = `shown = {}
	pick = nil
	vim.ui.select = function(items, opts, on_choice)
		local lines = vim.tbl_map(opts.format_item or tostring, items)
		table.insert(shown, { prompt = opts.prompt, lines = lines })
		for i, line in ipairs(lines) do
			if pick and line:find(pick, 1, true) then return on_choice(items[i], i) end
		end
		on_choice(nil)
	end
	vim.g.cursord = { chat = { open_on_ask = false } }`

// TestNvimPickers picks sessions, models and modes.
func TestNvimPickers(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, picks, "f")
		say := func(text string) {
			n.t.Helper()
			n.hears(text)
		}
		last := func() map[string]any { return n.lua("return shown[#shown]").(map[string]any) }
		latest := func() *sessions.Session {
			var out struct{ Sessions []*sessions.Session }
			e.Must("session/list", world.Obj{"workspace": w.Root, "limit": 1}, &out)
			return out.Sessions[0]
		}

		// Without a session they are for the next one.
		n.ex("Cursord resume")
		say("cursord: there is no session to resume")
		n.lua("pick = 'plan'")
		n.ex("Cursord mode")
		say("cursord: mode of the next session: plan")
		require.Equal(t, []any{"agent", "ask", "plan"}, last()["lines"])
		n.lua("pick = 'Fake Large'")
		n.ex("Cursord model")
		say("cursord: model of the next session: fake-large")
		require.Equal(t, []any{"Auto (current)", "Fake Large", "Fake Small"}, last()["lines"])
		n.ex("Cursord ask first")
		n.hears("cursord: done")
		first := latest()
		require.Equal(t, sessions.ModePlan, first.Mode)
		require.Equal(t, "fake-large", *first.Model)
		require.Subset(t, w.Runs()[0].Args, []string{"--model", "fake-large", "--mode", "plan"})

		// Then for the chat's session. If nothing is picked, nothing happens.
		n.lua("pick = nil")
		n.ex("Cursord mode")
		n.ex("Cursord mode agent")
		say("cursord: mode: agent")
		n.ex("Cursord model fake-small")
		say("cursord: model: fake-small")
		require.Equal(t, sessions.ModeAgent, latest().Mode)
		require.Equal(t, "fake-small", *latest().Model)
		n.ex("Cursord mode nonsense")
		n.until("an error", `for _, one in ipairs(said) do
			if one.level == vim.log.levels.ERROR and one.text:find('mode', 1, true) then return true end
		end`)
		require.Equal(t, []any{"agent", "ask", "plan"}, n.lua("return vim.fn.getcompletion('Cursord mode ', 'cmdline')"))
		n.until("the models", "return vim.deep_equal(vim.fn.getcompletion('Cursor model fake-l', 'cmdline'), { 'fake-large' })")
		require.Equal(t, []any{"@buffer"}, n.lua("return vim.fn.getcompletion('Cursord ask why @bu', 'cmdline')"))
		n.until("the files", "return vim.deep_equal(vim.fn.getcompletion('Cursord ask why @f', 'cmdline'), { '@f' })")

		// Another session, and back.
		n.ex("Cursord ask! second")
		n.poll("another session", func() bool { return len(w.Runs()) == 2 && latest().ID != first.ID && latest().State == "idle" })
		n.lua("pick = 'first'")
		n.ex("Cursord sessions")
		n.until("the chat", "return vim.bo.filetype == 'cursord_input'")
		lines := last()["lines"].([]any)
		require.Len(t, lines, 3)
		require.Equal(t, "New session", lines[0])
		require.Equal(t, []any{"second  (1 turn, now)", "first  (1 turn, now)"}, lines[1:])
		n.ex("Cursord mode plan")
		n.untilScreen(" plan · fake-small")
		n.lua("said = {}")
		n.quiet()
	})
}

// TestNvimContext sends the context that tokens name: the file with its unsaved text, lines of a file, diagnostics, the
// quickfix list and pending hunks.
func TestNvimContext(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Put("src/a.go", "package a\n")
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		w.Plays(world.Done)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		asked := 1
		ask := func(prompt, want string) {
			n.t.Helper()
			n.ex("Cursord ask " + prompt)
			asked++
			n.poll("the agent", func() bool { return len(w.Runs()) == asked })
			require.Equal(t, strings.TrimSpace("<context>\n"+want+"\n</context>\n\n"+prompt), strings.TrimSpace(w.Runs()[asked-1].Prompt))
			n.until("the end of the turn", "return require('cursord').statusline() == 'cursord: 1 hunk'")
		}
		refused := func(prompt, why string) {
			n.t.Helper()
			n.ex("Cursord ask " + prompt)
			n.hears(why)
			require.Len(t, w.Runs(), asked, "nothing is asked")
		}
		refused("@diagnostics?", "@diagnostics: there are no diagnostics")
		refused("@quickfix", "@quickfix: the quickfix list is empty")
		refused("@selection", "@selection: nothing has been selected")
		n.hunksOf("f", 1)

		n.lua(`vim.diagnostic.set(vim.api.nvim_create_namespace('test'), 0, {
				{ lnum = 1, col = 2, end_lnum = 1, end_col = 4, severity = vim.diagnostic.severity.ERROR, message = 'bad\nthing', source = 'lint' },
				{ lnum = 7, col = 0, severity = vim.diagnostic.severity.HINT, message = 'hm' } })
			vim.fn.setqflist({ { filename = 'src/a.go', lnum = 1, col = 3, text = 'look here' } })`)
		ask("fix @diagnostics, please", `<diagnostics path="f">
2:3 error: bad
thing (lint)
8:1 hint: hm
</diagnostics>`)
		ask("see @quickfix and me@example.com", `<text title="quickfix list">
src/a.go:1:3: look here
</text>`)
		ask("why @diff?", `<text title="changes under review">
--- f (modified)
@@ -2,7 +2,7 @@
 line 2
 line 3
 line 4
-line 5
+agent 5
 line 6
 line 7
 line 8
</text>`)
		ask("@buffer @src/a.go:1 @src/none.go", "<file path=\"f\" />\n<file path=\"src/a.go\" lines=\"1\" />")
		n.keys("Gomine<Esc>")
		n.untilText("f", after+"mine\n")
		ask("@buffer", "<text title=\"f (not saved)\">\n"+strings.TrimSuffix(after, "\n")+"\nmine\n</text>")
		n.keys("2GVj<Esc>")
		n.until("the selection", "return vim.fn.line(\"'>\") == 3")
		ask("@selection", "<selection path=\"f\" lines=\"2-3\">\nline 2\nline 3\n</selection>")
	})
}

// TestNvimTellsOfTurns has one message at a turn's end, autocommands, and progress messages in newer Neovims.
func TestNvimTellsOfTurns(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(append(append([]string{`{"fake":"wait","path":"{{cwd}}/../go"}`}, world.Edits("1", "f", before, after)...), world.Done)...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, `vim.g.cursord = { chat = { open_on_ask = false } }
			told, progress = {}, {}
			for _, name in ipairs({ 'CursordState', 'CursordHunks', 'CursordTurnEnd' }) do
				vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(args)
					local d = args.data
					table.insert(told, table.concat({ name, d.state or '-', d.hunks or '-', d.files or '-', d.turn and d.turn.status or '-' }, ' '))
				end })
			end
			if vim.fn.has('nvim-0.12') == 1 then
				vim.api.nvim_create_autocmd('Progress', { callback = function(args)
					table.insert(progress, { args.data.title, args.data.status, args.data.text or args.data.message })
				end })
			end`, "f")
		n.ex("Cursord ask do it")
		n.until("it works", "return require('cursord').statusline() == 'cursord: working'")
		w.Put("../go", "")
		n.until("a word at the end", "return said[1] ~= nil")
		n.hunksOf("f", 1)
		n.until("the state", "return require('cursord').statusline() == 'cursord: 1 hunk'")
		told := fmt.Sprint(n.lua("return told"))
		for _, part := range []string{"CursordState working 0 0 -", "CursordHunks - - - -", "CursordTurnEnd - 1 1 completed", "CursordState review 1 1 -"} {
			require.Contains(t, told, part)
		}
		require.Equal(t, []any{"cursord: 1 hunk in 1 file; :Cursord next goes there"}, n.lua("return vim.tbl_map(function(s) return s.text end, said)"))
		require.Equal(t, map[string]any{"pending": 1.0, "added": 1.0, "removed": 1.0}, n.lua("return vim.b.cursord_status_dict"))
		if n.lua("return vim.fn.has('nvim-0.12')") == 1.0 {
			require.Regexp(t, `^\[\[cursord running .*\] \[cursord success .*\]\]$`, fmt.Sprint(n.lua("return progress")))
		}

		// A failed turn says why, once, and the state shows it until the next turn.
		w.Plays(`{"type":"result","subtype":"error","is_error":true,"result":"no more credit"}`)
		n.ex("Cursord ask again")
		n.until("an error", "return said[2] ~= nil")
		n.until("the state", "return require('cursord').statusline() == 'cursord: error, 1 hunk'")
		require.Contains(t, n.lua("return said[2].text"), "no more credit")
		require.Equal(t, 2.0, n.lua("return #said"))
		require.Equal(t, "", n.lua("return vim.v.errmsg"))
	})
}

// TestNvimChatIsWhereItWasConfigured shows the chat in each of its positions: asking does not move the focus, and closing
// the chat restores the windows.
func TestNvimChatIsWhereItWasConfigured(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "", "f")
		said := 0.0
		for _, position := range []string{"left", "right", "below", "tab"} {
			n.lua("vim.g.cursord = { chat = { position = ..., width = 30 } } require('cursord.config').reload()", position)
			tabs := 1.0
			if position == "tab" {
				tabs = 2
			}
			where := func() any {
				return n.lua(`return { vim.fn.tabpagenr('$'), #vim.api.nvim_list_wins(), vim.bo.filetype, vim.fn.bufname() }`)
			}
			for range 2 {
				said++
				n.ex("Cursord ask hello")
				n.until("the end of the turn", "return #said == ...", said)
				require.Equal(t, []any{tabs, 3.0, "", "f"}, where(), position)
			}
			n.keys(":Cursord chat<CR>")
			n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")
			require.Equal(t, []any{1.0, 1.0, "", "f"}, where(), position)
			n.keys(":Cursord chat<CR>")
			n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
			n.keys("<Esc>:only<CR>:Cursord chat<CR>")
			n.until("a file's window", "return vim.bo.filetype == '' and #vim.api.nvim_tabpage_list_wins(0) == 1")
			require.Equal(t, "", n.lua("return vim.wo.winbar .. vim.v.errmsg"))
			n.quiet()
			n.lua("vim.cmd('silent! tabonly') vim.cmd('edit f')")
		}
	})
}

// TestNvimAnswerWithoutText reads an item of which the daemon has stored no text yet: the shown text stays.
func TestNvimAnswerWithoutText(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		n := neovim(w, t, bin, "")
		require.Equal(t, "one ", n.lua(`local tr = require('cursord.transcript').new({ root = '/w' })
			local item = { id = 'i', turnId = 't', index = 0, seq = 2, kind = 'assistant', status = 'running' }
			tr:turn({ id = 't', createdAt = '2026', prompt = 'go', status = 'running', seq = 1 })
			tr:item(item)
			tr:delta({ itemId = 'i', offset = 0, text = 'one ' })
			tr:item(item, true)
			tr:flush()
			return vim.api.nvim_buf_get_lines(tr.buf, -2, -1, true)[1]`))
	})
}
