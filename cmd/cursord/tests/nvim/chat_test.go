//go:build unix

package nvim

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// transcript is the text of the chat's upper window.
const transcript = `for _, b in ipairs(vim.api.nvim_list_bufs()) do
	if vim.bo[b].filetype == 'cursord_chat' then
		return table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\n')
	end
end`

func (n *nvim) untilTranscript(want string) {
	n.t.Helper()
	var have any
	defer func() {
		if n.t.Failed() {
			n.t.Logf("the transcript is\n%v", have)
		}
	}()
	n.poll("the transcript", func() bool { have = n.lua(transcript); return have == want })
}

// TestNvimChat writes in the chat: trust is asked for, the draft survives, text streams, and thoughts are folded.
func TestNvimChat(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("src/a.go", "package a\n")
		w.Put("src/b.go", "package b\n")
		w.Plays(
			`{"type":"thinking","subtype":"delta","text":"Hm.\nWell."}`, `{"type":"thinking","subtype":"completed"}`,
			world.Streams("First "), world.Streams("words\n\n- an item"),
			`{"fake":"wait","path":"{{cwd}}/../go"}`,
			`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
			`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"failure":{"command":"make","exitCode":2,"stdout":"one\ntwo\n","stderr":""}}}}}`,
			world.Streams("Last words"), world.Done)
		w.Start()
		// The select answers with the second choice at first, then with the first one.
		n := neovim(w, t, bin, `choices = {}
			vim.ui.select = function(items, opts, on_choice)
				table.insert(choices, opts.prompt)
				on_choice(items[#choices == 1 and 2 or 1])
			end`, "src/a.go")
		n.keys(":Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		n.keys("see @sr")
		n.until("what fits", "return vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ 'items' }).items == 2 and vim.api.nvim_get_current_line() == 'see @sr'")
		n.keys("<C-n><C-n><C-y> and @buffer please")
		n.until("the draft", "return vim.api.nvim_get_current_line() == 'see @src/b.go and @buffer please'")
		n.keys("<Esc>:Cursord chat<CR>")
		n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")
		n.keys(":Cursord chat<CR>")
		n.until("the draft is back", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_current_line():sub(1, 4) == 'see '")

		n.keys("<Esc><CR>")
		n.until("the question", "return #choices == 1 and vim.api.nvim_get_current_line():sub(1, 4) == 'see '")
		require.Empty(t, w.Runs())
		n.keys("<CR>")
		n.untilScreen("• an item")
		require.Equal(t, "", n.lua("return vim.api.nvim_get_current_line()"), "what is sent is out of the input")
		n.untilTranscript(`## You

see @src/b.go and @buffer please

## Cursor

∴ Thinking
  │ Hm.
  │ Well.

First words

- an item`)
		n.until("the state", "return require('cursord').statusline() == 'cursord: working'")
		require.Contains(t, n.screen(), "∴ Thinking")
		require.NotContains(t, n.screen(), "│ Hm.", "it is folded")
		w.Put("../go", "")
		n.untilTranscript(`## You

see @src/b.go and @buffer please

## Cursor

∴ Thinking
  │ Hm.
  │ Well.

First words

- an item

✗ exit status 2: make
    one
    two

Last words`)
		n.until("the end", "return require('cursord').statusline() == ''")
		require.Equal(t, "<context>\n<file path=\"src/b.go\" />\n<file path=\"src/a.go\" />\n</context>\n\nsee @src/b.go and @buffer please",
			strings.TrimSpace(w.Runs()[0].Prompt))
		n.quiet()
	})
}

// TestNvimTranscriptInAnyOrder gets turns and items in all orders, as when notifications overtake answers. The transcript is
// the same in each.
func TestNvimTranscriptInAnyOrder(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		n := neovim(w, t, bin, "")
		different := n.lua(`local ws = { root = vim.fn.getcwd() }
			local told = {}
			for i = 1, 3 do
				local turn = { id = 't' .. i, sessionId = 's', prompt = 'ask ' .. i, status = 'completed', seq = 1, createdAt = '2026-01-0' .. i }
				if i == 2 then turn.error = { message = 'it broke' } end
				table.insert(told, { 'turn', turn })
				local function item(index, kind, more)
					local it = { id = ('i%d.%d'):format(i, index), turnId = turn.id, index = index, kind = kind, status = 'completed', seq = 1 }
					table.insert(told, { 'item', vim.tbl_extend('error', it, more) })
				end
				item(1, 'thinking', { text = 'hm\nwell' })
				item(2, 'tool', { tool = { title = 'Read f', output = 'x' } })
				item(3, 'tool', { tool = { title = 'Read g' } })
				item(4, 'assistant', { text = 'so\n\nit is ' .. i })
				item(5, 'tool', { tool = { title = 'make' } })
			end
			local function all(order)
				local shown = require('cursord.transcript').new(ws)
				for _, i in ipairs(order) do
					shown[told[i][1]](shown, vim.deepcopy(told[i][2]))
				end
				shown:flush()
				local text = table.concat(vim.api.nvim_buf_get_lines(shown.buf, 0, -1, false), '\n')
				vim.api.nvim_buf_delete(shown.buf, { force = true })
				return text
			end
			local order = {}
			for i = 1, #told do order[i] = i end
			local want = all(order)
			assert(want:find('## You\n\nask 1\n\n## Cursor\n\n∴ Thinking\n  │ hm\n  │ well\n✓ Read f\n  │ x\n✓ Read g\n\nso\n\nit is 1\n\n✓ make\n\n## You', 1, true) == 1, want)
			for _ = 1, 25 do
				for i = #order, 2, -1 do
					local j = math.random(i)
					order[i], order[j] = order[j], order[i]
				end
				local have = all(order)
				if have ~= want then return table.concat(order, ' ') .. '\n' .. have .. '\n\nand not\n\n' .. want end
			end`)
		require.Nil(t, different)
		n.quiet()
	})
}

// TestNvimOvertakenAnswer gets a page, and a diff, that are older than the notifications before them.
func TestNvimOvertakenAnswer(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
		w.Put("f", before)
		w.Plays(append(append([]string{world.Streams("I begin. "), `{"fake":"wait","path":"{{cwd}}/../go"}`}, world.Edits("1", "f", before, after)...),
			world.Streams("I end."), world.Done)...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask go on")
		begun := "## You\n\ngo on\n\n## Cursor\n\nI begin. "
		n.untilTranscript(begun)
		n.lua(`pages = {}
			local shown = require('cursord.transcript').of(require('cursord.workspace').find().current)
			require('cursord.rpc').request('session/read', { sessionId = shown.session }, function(_, result) pages[1] = result end)`)
		n.until("a page", "return pages[1] ~= nil")
		w.Put("../go", "")
		edited := "\n\n✓ Edit f +2 −2\n  │ @@ -2,7 +2,7 @@\n  │  line 2\n  │  line 3\n  │  line 4\n  │ -line 5\n  │ +agent 5\n  │  line 6\n  │  line 7\n  │  line 8\n" +
			"  │ @@ -12,7 +12,7 @@\n  │  line 12\n  │  line 13\n  │  line 14\n  │ -line 15\n  │ +agent 15\n  │  line 16\n  │  line 17\n  │  line 18\n\nI end."
		n.untilTranscript(begun + edited)
		n.until("the state", "return require('cursord').statusline() == 'cursord: 2 hunks'")
		n.lua("require('cursord.transcript').of(require('cursord.workspace').find().current):page(pages[1])")
		n.untilTranscript(begun + edited)
		require.NotContains(t, n.screen(), "working")

		n.hunksOf("f", 2)
		n.lua("old = vim.deepcopy(require('cursord.workspace').find().diffs.f)")
		n.ex("5Cursord accept")
		n.hunksOf("f", 1)
		n.lua("require('cursord.workspace').find():put_diff(old)")
		n.hunksOf("f", 1)
		n.quiet()
	})
}

// TestNvimScrolledWindowStays reads the beginning of an answer while its end comes.
func TestNvimScrolledWindowStays(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		first := strings.Repeat("a line\n", 60)
		w.Plays(world.Streams(first), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams(strings.Repeat("more\n", 60)+"the end"), world.Done)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }")
		n.ex("Cursord ask x")
		n.keys(":Cursord chat<CR>")
		n.until("the first part", "local t = (function() "+transcript+" end)() return t and select(2, t:gsub('a line', '')) == 60")
		n.keys("<Esc><C-w>k10G")
		n.until("its window", "return vim.bo.filetype == 'cursord_chat' and vim.fn.line('.') == 10")
		n.lua("vim.cmd('vsplit | normal! G')") // another window, at the end
		n.lua("vim.cmd('wincmd p')")
		before := n.lua("return { vim.fn.line('w0'), vim.fn.line('.'), vim.fn.winnr() }")
		w.Put("../go", "")
		n.until("the rest", "local t = (function() "+transcript+" end)() return t:sub(-7) == 'the end'")
		require.Equal(t, before, n.lua("return { vim.fn.line('w0'), vim.fn.line('.'), vim.fn.winnr() }"))
		require.Equal(t, true, n.lua(`vim.cmd('wincmd p') return vim.fn.line('.') == vim.fn.line('$')`), "the window at the end follows")
		n.quiet()
	})
}

// TestNvimCrashesAndRestarts kills Neovim and then the daemon during turns. Two Neovims show the same afterwards.
func TestNvimCrashesAndRestarts(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent\n"})
		w.Put("f", before)
		w.Plays(append(append([]string{world.Streams("I begin. ")}, world.Edits("1", "f", before, after)...),
			world.Streams("I wait. "), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams("I end."), world.Done)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask do it")
		n.untilScreen("I wait.")
		n.kill()

		// Another Neovim shows the transcript, the running turn and the hunk, and the turn goes on.
		n = neovim(w, t, bin, "", "f")
		n.ex("Cursord resume")
		n.hunksOf("f", 1)
		n.untilScreen("I wait.")
		n.keys("<Esc>")
		other := neovim(w, t, bin, "", "f")
		other.ex("Cursord chat")
		other.hunksOf("f", 1)
		other.untilScreen("I wait.")
		w.Put("../go", "")
		for _, n := range []*nvim{n, other} {
			n.until("the rest", "local t = (function() "+transcript+" end)() return t:sub(-6) == 'I end.'")
			n.untilScreen("I end.")
			n.until("the state", "return vim.g.cursord_status == '1 hunk'")
		}
		want := n.lua(transcript)
		require.Equal(t, want, other.lua(transcript))

		// A decision in one shows in the other.
		other.lua("vim.cmd('wincmd t') vim.cmd('5Cursord reject')")
		n.agree(e, "f", before, 0)
		n.lua("vim.cmd('wincmd t') vim.cmd('Cursord undo')")
		other.agree(e, "f", after, 1)
		n.agree(e, "f", after, 1)

		// The daemon crashes during a turn; the first client that notices starts another.
		require.NoError(t, os.Remove(w.Path("../go")))
		w.Plays(world.Streams("I wait again. "), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Done)
		n.ex("Cursord ask once more")
		other.until("it runs", "return vim.g.cursord_status == 'working, 1 hunk'")
		w.Kill()
		t.Cleanup(func() { w.Cursord("stop", "--force") })
		_, stderr, status := w.Cursord("status")
		require.Zero(t, status, stderr)
		for _, n := range []*nvim{n, other} {
			n.until("the end of the turn", "return vim.g.cursord_status == '1 hunk' and require('cursord.rpc').connected()")
			n.untilScreen("interrupted")
			n.hunksOf("f", 1)
		}
		w.Plays(world.Streams("Here again."), world.Done)
		other.ex("Cursord ask and now?")
		for _, n := range []*nvim{n, other} {
			n.until("the answer", "local t = (function() "+transcript+" end)() return t:sub(-11) == 'Here again.'")
		}

		// Both at once.
		want = n.lua(transcript)
		n.kill()
		other.kill()
		_, stderr, status = w.Cursord("stop", "--force")
		require.Zero(t, status, stderr)
		n = neovim(w, t, bin, "", "f")
		n.ex("Cursord resume")
		n.untilTranscript(want.(string))
		e = w.Opens()
		n.agree(e, "f", after, 1)
		n.keys("<Esc>:wincmd t<CR>")
		n.until("the file", "return vim.bo.buftype == ''")
		n.ex("5Cursord reject")
		n.agree(e, "f", before, 0)
		n.quiet()
	})
}

// TestNvimWithoutTheProgram says what is missing and what to do.
func TestNvimWithoutTheProgram(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, "vim.g.cursord = { bin = 'no-such-program', chat = { wide = 3, position = 'up' } }")
		n.ex("Cursord ask hello")
		n.until("a word", "return said[1] ~= nil")
		require.Contains(t, n.lua("return said[1].text"), `"no-such-program" is not executable. Install cursord`)
		n.ex("checkhealth cursord")
		health := n.text()
		for _, part := range []string{`unknown key "chat.wide"`, "chat.position must be one of right, left, below, tab", `"no-such-program" is not executable`} {
			require.Contains(t, health, part)
		}
		n.ex("Cursord nonsense")
		require.Contains(t, n.messages(), `"nonsense" is no subcommand; :Cursord and <Tab> list them`)
		require.Equal(t, []any{"accept", "accept!", "adddir", "adddir!", "approvals", "approve", "ask", "ask!", "attempts", "autoreview"}, n.lua("return vim.fn.getcompletion('Cursord a', 'cmdline')"))
		require.Equal(t, []any{"file"}, n.lua("return vim.fn.getcompletion('Cursord reject f', 'cmdline')"))
	})
}

// TestNvimBesidePackages has vim.pack bring another plugin; the installed one is loaded, too. From a repository with the
// plugin at its root vim.pack brings ours.
func TestNvimBesidePackages(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.RepositoryIn("../other.nvim", world.Tree{"plugin/other.lua": "vim.g.other = 1\n"})
		_, stderr, status := w.Cursord("editor", "install", "nvim")
		require.Zero(t, status, stderr)
		add := "if vim.pack then vim.pack.add({ 'file://%s' }, { confirm = false }) end"
		bare := "vim.opt.rtp:remove(vim.opt.rtp:get()[1])\n"
		n := neovim(w, t, bin, bare+fmt.Sprintf(add, w.Path("../other.nvim")))
		has := n.lua("return vim.pack ~= nil") == true
		n.until("the other plugin", "return vim.pack == nil or vim.g.other == 1") // vim.pack waits for git, and serves requests meanwhile
		require.Contains(t, n.lua("return vim.api.nvim_get_runtime_file('plugin/cursord.lua', true)"), w.Path("../.local/share/nvim/site/pack/cursord/start/cursord.nvim/plugin/cursord.lua"))
		n.ex("Cursord review")
		if !has {
			return
		}
		n.kill()
		_, stderr, status = w.Cursord("editor", "uninstall", "nvim")
		require.Zero(t, status, stderr)
		require.NoError(t, os.CopyFS(w.Path("../cursord.nvim"), os.DirFS(world.Top("editors", "nvim"))))
		w.RepositoryIn("../cursord.nvim", nil)
		n = neovim(w, t, bin, bare+fmt.Sprintf(add, w.Path("../cursord.nvim")))
		n.until("the plugin", "return vim.fn.exists(':Cursord') == 2")
		require.Contains(t, fmt.Sprint(n.lua("return vim.api.nvim_get_runtime_file('plugin/cursord.lua', true)")), "/pack/core/opt/cursord.nvim/")
		n.ex("Cursord review")
		n.ex("help cursord-review")
	})
}

// TestNvimInstalled installs the plugin with the command of README, and opens its help and its health.
func TestNvimInstalled(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		out, stderr, status := w.Cursord("editor", "install", "nvim")
		require.Zero(t, status, stderr)
		require.Contains(t, out, "installed in ")
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.opt.rtp:remove(vim.opt.rtp:get()[1])")
		require.Contains(t, n.lua("return vim.api.nvim_get_runtime_file('plugin/cursord.lua', false)[1]"), "/site/pack/cursord/start/")
		n.ex("help cursord-review")
		require.Contains(t, n.lua("return vim.api.nvim_get_current_line()"), "*cursord-review*")
		n.ex("quit")
		n.turn("hello")
		n.ex("checkhealth cursord")
		require.Contains(t, n.text(), "connected: a development build, process")
		require.Contains(t, n.text(), "1 session, 0 hunks to review")
		require.NotContains(t, n.text(), "ERROR")
		n.quiet()
	})
}
