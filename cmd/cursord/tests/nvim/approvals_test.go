//go:build unix

package nvim

import (
	"strings"
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
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } } vim.keymap.set('n', 'gy', '<Plug>(cursord-approve)') vim.keymap.set('n', 'gn', '<Plug>(cursord-deny)')", "a.txt")
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
		n.until("it has settled", "if next(require('cursord.workspace').find(0).approvals) ~= '"+two.ID+"' then return true end vim.cmd('Cursord deny')")
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
		n.poll("it has settled", func() bool {
			n.ex("Cursord approve 9")
			return strings.Contains(n.messages(), "cursord: there is no answer 9: say a number from 1 to 2")
		})
		n.ex("Cursord deny")
		n.hears("cursord: no answer here means no: :Cursord approve NUMBER, or cancel")
		e.Must("approval/answer", world.Obj{"approvalId": question.ID, "optionId": "o2"}, nil)
		long := e.Until("the long one", func(m world.Notification) bool {
			return m.Approval != nil && m.Approval.Status == sessions.ApprovalPending && len(m.Approval.Command) > 300
		}).Approval
		n.untilScreen("echo long >>ran")
		n.keys("q")
		n.ex("Cursord approve")
		n.hears("read the whole question here")
		require.Len(t, n.lua("return require('cursord.approvals').pending()"), 1, "a question that is not seen whole is not answered")
		n.keys("G?Reject<CR>")
		n.keys("<CR>")
		require.Equal(t, "reject-once", answer(long.ID))
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
