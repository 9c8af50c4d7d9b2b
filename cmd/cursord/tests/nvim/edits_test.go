//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// todo returns a call of the agent that reports its todo list. A mark is x for completed, ~ for in progress, or a blank.
func todo(call, marks string) string {
	all := []string{}
	for i, mark := range marks {
		status := map[rune]string{'x': "TODO_STATUS_COMPLETED", '~': "TODO_STATUS_IN_PROGRESS", ' ': "TODO_STATUS_PENDING"}[mark]
		all = append(all, fmt.Sprintf(`{"id":"%d","content":"step %d","status":"%s"}`, i, i+1, status))
	}
	return fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"updateTodosToolCall":{"args":{},"result":{"success":{"todos":[%s]}}}}}`,
		call, strings.Join(all, ","))
}

// TestNvimWhatTheChatShows looks at a chat during a turn and after it, in all looks: the patch of an edit, a failed command,
// the todo list, the time, the tokens, and links.
func TestNvimWhatTheChatShows(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 20: "agent 20a\nagent 20b\n"})
		long := strings.Repeat("a line of a long file\n", 400)
		w.PutAll(world.Tree{"f": before, "long": long})
		output := `"stdout":"one\ntwo\nthree\nfour\nfive\n","stderr":""`
		w.Plays(world.Lines(world.Edits("1", "f", before, after), world.Edits("2", "long", long, long+"the end\n"),
			[]string{
				`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"failure":{"command":"make","exitCode":2,` + output + `}}}}}`,
				todo("t", "x~ "), world.Streams("See f:9 and lib/none.go:3."), world.Waits("go"), todo("u", "xx~"), world.Waits("on"), todo("v", "xxx"),
				`{"type":"result","subtype":"success","is_error":false,"result":"ok","usage":{"inputTokens":12345,"outputTokens":678,"cacheReadTokens":0,"cacheWriteTokens":0}}`,
			})...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, `vim.o.termguicolors, vim.o.lines = true, 50
			vim.g.cursord = { chat = { position = 'below', height = 30 }, notify = { progress = false } }`, "f")
		n.ex("Cursord ask do it")
		n.untilScreen("\n[x] step 1\n[~] step 2\n[ ] step 3\n Cursor: 1 of 3 done\n")
		n.untilScreen("✗ exit status 2: make\n    three\n    four\n    five\n")
		n.untilScreen("✓ Edit long +1 −0")
		require.Regexp(t, `do it +working, 3 hunks · 0:\d\d`, n.screen())
		require.Contains(t, n.screen(), "✓ Edit f +3 −2\n✓ Edit long +1 −0\n✗ exit status 2: make")
		for _, look := range looks {
			n.looks(look)
			n.untilScreen("\n[x] step 1\n[~] step 2\n[ ] step 3\n Cursor: 1 of 3 done")
			normal := n.ground("Normal")
			require.Equal(t, n.ink("CursordNote")+" on "+normal, n.cell("[x] step 1"), "done")
			require.Equal(t, n.ink("CursordFile")+" on "+normal, n.cell("[~] step 2"), "in progress")
			require.Equal(t, n.ink("Normal")+" on "+normal, n.cell("[ ] step 3"))
		}
		n.lua("vim.o.columns = 80")
		w.Put("../go", "")
		n.untilScreen("[~] step 3\n Cursor: 2 of 3 done")
		w.Put("../on", "")
		n.untilScreen("3 hunks · 12.3k → 678 tokens")
		require.NotContains(t, n.screen(), "Cursor: 3 of 3", "all is done")
		n.keys("<C-w>j")
		n.until("the transcript", "return vim.bo.filetype == 'cursord_chat'")
		n.keys("gg:call search('Edit f')<CR><Tab>")
		for _, look := range looks {
			n.looks(look)
			n.untilScreen("✓ Edit f +3 −2\n  │ @@ -2,7 +2,7 @@\n  │  line 2\n  │  line 3\n  │  line 4\n  │ -line 5\n  │ +agent 5\n")
			require.Equal(t, n.ground("CursordAdd"), strings.Fields(n.cell("+agent 5"))[2])
			require.Equal(t, n.ground("CursordDelete"), strings.Fields(n.cell("-line 5"))[2])
			require.Equal(t, n.ink("CursordChatDone"), strings.Fields(n.cell("✓ Edit f"))[0])
			require.Equal(t, "CursordLink", n.lua("return vim.fn.synIDattr(vim.fn.synID(vim.fn.search('See f:9', 'nw'), 19, 1), 'name')"))
		}
		n.lua("vim.o.columns = 80")
		// The daemon has cut this edit's report, and the rest was read.
		n.keys("gg:call search('Edit long')<CR>zt<Tab>")
		n.untilScreen("✓ Edit long +1 −0\n  │ @@ -398,3 +398,4 @@\n  │  a line of a long file\n  │  a line of a long file\n  │  a line of a long file\n  │ +the end\n")
		n.keys("gg/agent 20b<CR><CR>")
		n.until("the hunk", "return vim.fn.expand('%') == 'f' and vim.fn.line('.') == 20")
		n.ex("wincmd j")
		n.keys("gg/f:9<CR><CR>")
		n.until("the line", "return vim.fn.expand('%') == 'f' and vim.fn.line('.') == 9")
		n.ex("wincmd j")
		n.keys("gg:call search('make')<CR>zt<CR>") // the beginning of its output
		n.untilScreen("\n  │ one\n  │ two\n    three")
		n.quiet()
	})
}

// TestNvimEmptiedTodos: a todo list that the agent empties leaves the screen.
func TestNvimEmptiedTodos(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(todo("t", "x~ "), world.Waits("go"), todo("u", ""), world.Streams("No more todos."), world.Waits("on"), world.Done)
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask do it")
		n.untilScreen("[~] step 2")
		n.untilScreen("Cursor: 1 of 3 done")
		w.Put("../go", "")
		n.untilScreen("No more todos.")
		n.until("the list is gone", "return not vim.iter(vim.api.nvim_list_wins()):any(function(win) return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):find('cursord://todo', 1, true) ~= nil end)")
		require.NotContains(t, n.screen(), "done\n")
		w.Put("../on", "")
		e.Until("the end", func(m world.Notification) bool { return m.Turn != nil && m.Turn.Status.Final() })
		n.quiet()
	})
}

// TestNvimCountsWhatAnEditChanged: where the agent counts all lines of a long file, and where it writes what was there, the chat counts
// the lines that have changed.
func TestNvimCountsWhatAnEditChanged(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(600, nil)
		counts := func(lines []string) []string {
			last := len(lines) - 1
			lines[last] = strings.Replace(lines[last], `"success":{`, `"success":{"linesAdded":600,"linesRemoved":600,`, 1)
			return lines
		}
		w.PutAll(world.Tree{"long": before, "same": before, "f": "x\n"})
		w.Plays(world.Lines(counts(world.Edits("1", "long", before, world.Numbered(600, map[int]string{7: "agent 7\n"}))),
			counts(world.Edits("2", "same", before, before)), counts(world.Edits("3", "f", "x\n", "x\n")), []string{
				world.Started("c", `{"shellToolCall":{"args":{"command":"make"}}}`), world.Execs("echo made > made.txt; echo y >> f"),
				world.Completed("c", `{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"exitCode":0,"stdout":"built\n","stderr":""}}}}`),
			})...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "f")
		n.ex("Cursord ask do it")
		n.untilScreen("✓ Edit long +1 −1")
		n.untilScreen("✓ Edit same (no change)")
		n.untilScreen("✓ Edit f (no change)")
		// What a command has changed comes from the daemon.
		n.untilScreen("✓ make +2 −0")
		n.ex("wincmd l")
		n.until("the transcript", "return vim.bo.filetype == 'cursord_chat'")
		n.keys("gg:call search('make +2')<CR>zt<Tab>")
		for _, line := range []string{"│  │ # f +1 −0", "│  │  x", "│  │ +y", "│  │ # made.txt +1 −0", "│  │ +made", "│  │ built"} {
			n.untilScreen(line)
		}
		n.keys("gg/+made<CR><CR>")
		n.until("the file", "return vim.fn.expand('%') == 'made.txt'")
		n.quiet()
	})
}
