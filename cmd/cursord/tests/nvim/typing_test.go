//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSearchesWhileTyping: ":Cursord search" lists what has the words typed so far, with a preview of the chosen place; the keys of the
// prompt choose, go to the list and close it, and the list leads back to the prompt.
func TestNvimSearchesWhileTyping(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The scheduler loses a wakeup.\n\nIn its first line."), world.Done)
		first := e.Turn(world.Obj{"prompt": "why does it hang"})
		w.Plays(`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make schedules"}}}}`,
			`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make schedules"},"result":{"success":{"command":"make schedules","exitCode":0,"stdout":"","stderr":""}}}}}`,
			world.Done)
		e.Turn(world.Obj{"prompt": "something else\nabout the scheduler"})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30 vim.g.cursord = { notify = { progress = false } }`, "f")
		wins := func(count float64) {
			t.Helper()
			n.until("the number of windows", "return #vim.api.nvim_list_wins() == ...", count)
		}
		status := func(text, count string) {
			t.Helper()
			n.untilScreen(" Cursor: " + text + strings.Repeat(" ", 80-len(" Cursor: "+text+count+" ")) + count)
		}
		n.keys(":Cursord search<CR>")
		n.untilScreen("┌ Search all sessions ──")
		n.untilScreen("└ <CR> to the list · <C-n> <C-p> choose · <Esc> close ──")
		n.untilScreen("\nwords of prompts, answers,")
		n.keys("sch")
		status("places that have sch", "1/3")
		n.keys("edul")
		status("places that have schedul", "1/3")
		n.untilScreen("│> schedul")
		n.untilScreen("┌ something else ─")
		n.untilScreen("│✓ make schedules")
		n.until("the words in the preview are highlighted", `for _, win in ipairs(vim.api.nvim_list_wins()) do
			for _, match in ipairs(vim.fn.getmatches(win)) do return match.pattern == '\\c\\Vschedul' end
		end`)
		n.keys("<C-n>")
		n.untilScreen("│about the scheduler")
		n.keys("<Down>")
		n.untilScreen("┌ why does it hang ─")
		n.untilScreen("│In its first line.")
		status("places that have schedul", "3/3")
		n.keys("<Down>")
		n.untilScreen("│✓ make schedules")
		n.keys("<Up>")
		n.untilScreen("│In its first line.")
		n.keys("<C-p>")
		n.untilScreen("│about the scheduler")
		n.keys("er nowhere")
		n.untilScreen("\nno session has scheduler nowhere\n")
		n.poll("the preview is closed", func() bool { return !strings.Contains(n.screen(), "│about the") })
		n.keys("<CR>") // there is nothing to go to
		n.keys("<C-w>wakeup")
		status("places that have scheduler wakeup", "1/1")
		n.keys("<CR>")
		n.until("the list", `return vim.bo.buftype == 'nofile' and vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_get_current_line():find('loses a wakeup', 1, true) ~= nil`)
		wins(2)
		n.keys("i")
		n.untilScreen("│> scheduler wakeup")
		n.keys("<C-u>make")
		n.untilScreen("│✓ make schedules")
		n.keys("<Esc>")
		n.until("the list again", `return vim.bo.buftype == 'nofile' and vim.api.nvim_get_current_line():find('make schedules', 1, true) ~= nil`)
		wins(2)
		n.keys("q")
		wins(1)

		// The words and Enter come at once, before anything is found.
		n.keys(":Cursord search<CR>loses a wakeup<CR>")
		n.untilScreen("why does it hang: The scheduler")
		n.keys("<CR>")
		n.until("the place", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_get_current_line() == 'The scheduler loses a wakeup.'")
		require.Equal(t, first.SessionID, n.lua("return require('cursord.workspace').find().current"))
		wins(3)
		for _, closing := range []string{"<Esc>", "<C-c>", "<CR>"} {
			n.keys(":Cursord search<CR>hang<C-u>")
			n.untilScreen("\nwords of prompts, answers,")
			n.keys(closing)
			n.until("the transcript, and no list", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_get_mode().mode == 'n' and #vim.api.nvim_list_wins() == 3")
		}
		n.quiet()
	})
}

// TestNvimDropsOldAnswersOfASearch: an answer that comes when other words are typed already is not shown.
func TestNvimDropsOldAnswersOfASearch(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("Plums and pears."), world.Done)
		e.Turn(world.Obj{"prompt": "what is there"})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30 vim.g.cursord = { notify = { progress = false } }
			held = {}`, "f")
		n.lua(`local rpc = require('cursord.rpc')
			local request = rpc.request
			rpc.request = function(method, params, done)
				request(method, params, method ~= 'search' and done or function(...)
					local answer = { ... }
					held[params.query] = function() done(unpack(answer, 1, 2)) end
				end)
			end`)
		n.keys(":Cursord search<CR>plums")
		n.until("the first answer", "return held.plums ~= nil")
		n.keys("<C-u>pears")
		n.until("the second answer", "return held.pears ~= nil")
		n.lua("held.pears()")
		n.untilScreen("places that have pears")
		n.lua("held.plums()")
		require.Contains(t, n.screen(), "places that have pears")
		n.keys("<C-u>")
		n.untilScreen("\nwords of prompts, answers,")
		n.lua("held.pears()")
		require.Contains(t, n.screen(), "\nwords of prompts, answers,")
		n.quiet()
	})
}

// TestNvimSearchShowsWhatItHasFound: what was found is seen in a narrow list, also when the chat takes half of its width; another search has
// the same window, and Enter leaves none, so that the chat has the room.
func TestNvimSearchShowsWhatItHasFound(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("An answer that says something before it, äöü 漢字, names plums and goes on for a while after that."), world.Done)
		e.Turn(world.Obj{"prompt": "a prompt that makes a long title for the session"})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 120, 30 vim.g.cursord = { notify = { progress = false } }`, "f")
		row := func() int { return int(n.lua("return vim.fn.screenpos(0, vim.fn.line('.'), 1).row").(float64)) }
		hit := func() {
			t.Helper()
			n.until("the list", "return vim.bo.buftype == 'nofile'")
			n.until("it is drawn for its width", "return vim.fn.strdisplaywidth(vim.fn.matchstr(vim.api.nvim_get_current_line(), '.*plums')) <= vim.api.nvim_win_get_width(0)")
			require.Equal(t, n.ground("Search"), strings.Fields(n.cell("plums", row()))[2])
		}
		n.ex("Cursord search plums")
		n.untilScreen("names plums")
		hit()
		n.lua("require('cursord.chat').show(require('cursord.workspace').find())")
		n.until("the chat beside it", "return vim.api.nvim_win_get_width(0) < 60")
		hit()
		n.lua("require('cursord.chat').hide(require('cursord.workspace').find()) vim.o.columns = 40")
		hit()
		n.lua("vim.o.columns = 120 require('cursord.chat').show(require('cursord.workspace').find())")
		n.ex("Cursord search 漢字")
		n.untilScreen("places that have 漢字")
		require.EqualValues(t, 4, n.lua("return #vim.api.nvim_list_wins()"), "the file, the list and the chat")
		n.keys("<CR>")
		n.until("the place", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_get_current_line():find('plums') ~= nil")
		require.EqualValues(t, 3, n.lua("return #vim.api.nvim_list_wins()"))
		n.quiet()
	})
}
