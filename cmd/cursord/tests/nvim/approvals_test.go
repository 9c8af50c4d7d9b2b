//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestNvimApprovals: a question comes as a float that does not take the focus, and is answered by command, by <Plug> map and in the
// list; an answer elsewhere takes it off the screen. What does not fit is answered only in the list.
func TestNvimApprovals(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("a.txt", "text\n")
		w.Plays(`{"fake":"shell","ask":true,"command":"echo one >>ran"}`, `{"fake":"shell","ask":true,"command":"echo two >>ran"}`,
			`{"fake":"shell","ask":true,"command":"echo three >>ran"}`, `{"fake":"question","text":"Which colour?","options":["Red`+repeated(" and red", 30)+` to the end","Blue"]}`,
			`{"fake":"shell","ask":true,"command":"echo long >>ran`+repeated(`\n# a line`, 40)+`"}`, `{"fake":"say","text":"over"}`)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } } vim.keymap.set('n', 'gy', '<Plug>(cursord-approve)') vim.keymap.set('n', 'gn', '<Plug>(cursord-deny)')", "a.txt")
		n.reads(0)
		n.ex("Cursord ask begin")
		asked := func(command string) *sessions.Approval {
			t.Helper()
			return e.Until(command, func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.Status == sessions.ApprovalPending && (m.Approval.Command == command || m.Approval.Title == command)
			}).Approval
		}
		answer := func(id string) string {
			t.Helper()
			return e.Until("the answer", func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.ID == id && m.Approval.Status != sessions.ApprovalPending
			}).Approval.Answer.OptionID
		}
		one := asked("echo one >>ran")
		n.untilScreen("The agent asks for permission")
		n.untilScreen("  echo one >>ran")
		require.Equal(t, "a.txt", n.lua("return vim.fn.expand('%')"), "the float has not taken the focus")
		n.until("the state", "return require('cursord.status').text(require('cursord.workspace').find(0)):find('asks you') ~= nil")
		n.keys("gy")
		require.Equal(t, "allow-once", answer(one.ID))
		two := asked("echo two >>ran")
		n.untilScreen("  echo two >>ran")
		n.ex("Cursord deny")
		require.Equal(t, "reject-once", answer(two.ID))
		three := asked("echo three >>ran")
		n.untilScreen("  echo three >>ran")
		n.ex("Cursord approvals")
		n.untilScreen("Approvals")
		n.untilScreen("<CR> give this answer")
		n.keys("gg/Reject<CR>")
		n.keys("<CR>")
		require.Equal(t, "reject-once", answer(three.ID))
		question := asked("Which colour?")
		n.untilScreen("to the end")
		n.untilScreen("2 Blue")
		n.ex("Cursord approve 9")
		n.hears("cursord: 9 is no answer: say 1, 2 or n")
		n.ex("Cursord deny I like none")
		n.hears("cursord: this no takes no text; :Cursord deny says it")
		n.untilScreen("n no answer; the agent goes on without one")
		n.ex("Cursord deny")
		require.Equal(t, "cursord:none", answer(question.ID))
		long := e.Until("the long one", func(m world.Notification) bool {
			return m.Approval != nil && m.Approval.Status == sessions.ApprovalPending && len(m.Approval.Command) > 300
		}).Approval
		n.untilScreen("echo long >>ran")
		n.keys("q")
		n.untilScreen("more lines: see :Cursord approvals")
		n.ex("Cursord approve")
		n.hears("read all of it; <CR> answers")
		require.Len(t, n.lua("return require('cursord.approvals').pending()"), 1, "a question that is not seen whole is not answered")
		n.keys("G?Reject<CR>")
		n.keys("<CR>")
		require.Equal(t, "reject-once", answer(long.ID))
		n.until("Neovim knows of the answer", "return #require('cursord.approvals').pending() == 0")
		n.until("no float", "for _, win in ipairs(vim.api.nvim_list_wins()) do if vim.api.nvim_win_get_config(win).relative ~= '' then return false end end return true")
		e.Ends(one.TurnID)
		n.keys("q")
		n.until("the list is closed", "return #vim.api.nvim_list_wins() == 1")
		n.ex("Cursord approvals")
		n.untilScreen("no agent asks anything")
		require.Len(t, n.lua("return vim.api.nvim_list_wins()"), 1, "nothing is no list")
		require.Equal(t, "one\n", w.Get("ran"))
	})
}

func repeated(text string, times int) (all string) {
	for range times {
		all += text
	}
	return all
}

// reads sets how long a question must be on the screen before a key answers it, in milliseconds.
func (n *nvim) reads(reading float64) {
	n.t.Helper()
	n.lua("require('cursord.approvals').reading = ...", reading)
}

// TestNvimAnswersWhatWasSeen: a command or a key answers the question that the person saw before they typed, and no other one that has
// taken its place meanwhile, in the float and in the list.
func TestNvimAnswersWhatWasSeen(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("a.txt", "text\n")
		var script []string
		for _, name := range []string{"AA", "BB", "CC", "DD"} {
			script = append(script, `{"fake":"shell","ask":true,"command":"echo `+name+` >>ran"}`)
		}
		w.Plays(script...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } } vim.keymap.set('n', 'gy', '<Plug>(cursord-approve)')", "a.txt")
		n.ex("Cursord ask begin")
		asks := func(name string) string {
			t.Helper()
			n.until(name+" is asked", "local a = require('cursord.approvals').pending()[1] return a ~= nil and a.command:find(...) ~= nil", name)
			return n.lua("return require('cursord.approvals').pending()[1].id").(string)
		}
		first := asks("AA")
		n.reads(1e9)
		n.untilScreen("  echo AA >>ran")
		n.keys("gy")
		n.hears("cursord: this question has just come: read it, then answer")
		n.reads(0)

		n.keys(":Cursord approve")
		n.until("it is typed", "return vim.fn.getcmdline() == 'Cursord approve'")
		e.Must("approval/answer", world.Obj{"approvalId": first, "optionId": "allow-once"}, nil)
		second := asks("BB")
		n.keys("<CR>")
		n.hears("cursord: that question has ended: nothing was answered")
		require.Equal(t, second, asks("BB"))
		n.untilScreen("  echo BB >>ran")
		n.keys(":Cursord approve<CR>")
		asks("CC")
		n.untilScreen("  echo CC >>ran")

		n.ex("Cursord approvals")
		n.untilScreen("Approvals")
		n.keys("gg/Allow<CR>")
		n.until("the cursor is on an answer", "return vim.api.nvim_get_current_line():find('^%d Allow') ~= nil")
		n.keys("<CR>")
		fourth := asks("DD")
		n.until("the list has it", "return vim.fn.search('echo DD', 'nw') > 0")
		n.keys("<CR>")
		require.Equal(t, []any{1.0, fourth}, n.lua("return { vim.fn.line('.'), require('cursord.approvals').pending()[1].id }"))
		require.Equal(t, "AA\nBB\nCC\n", w.Get("ran"))
		e.Must("approval/answer", world.Obj{"approvalId": fourth, "optionId": "reject-once"}, nil)
	})
}

// TestNvimAnswersAPlan: a text never turns a yes to a plan into a no; it goes with a no.
func TestNvimAnswersAPlan(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Plays(`{"fake":"plan","text":"Paint it."}`, `{"fake":"say","text":"over"}`)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "a.txt")
		n.reads(0)
		n.ex("Cursord ask begin")
		n.untilScreen("no, with a text of yours (:Cursord deny TEXT)")
		n.ex("Cursord approve looks good")
		n.hears("cursord: a yes to a plan takes no text; :Cursord deny TEXT says no with it")
		require.Len(t, n.lua("return require('cursord.approvals').pending()"), 1)
		n.ex("Cursord deny because of | x")
		a := e.Until("the answer", func(m world.Notification) bool {
			return m.Approval != nil && m.Approval.Status == sessions.ApprovalAnswered
		}).Approval
		require.Equal(t, sessions.RejectOnce, a.Option(a.Answer.OptionID).Kind)
		require.Equal(t, "because of | x", a.Answer.Text)
	})
}
