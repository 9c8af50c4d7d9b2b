//go:build unix

package nvim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// noFloat is Lua that reports whether the tab page has no float.
const noFloat = `for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
		if vim.api.nvim_win_get_config(win).relative ~= '' then return false end
	end
	return true`

// asker returns a world whose agent asks, and a Neovim of 80 columns and 24 lines.
func asker(t *testing.T, bin string, script ...string) (*world.World, *world.Editor, *nvim) {
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("a.txt", "text\n")
	w.Plays(script...)
	w.Start()
	e := w.Opens()
	n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 80, 24 vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }", "a.txt")
	n.reads(0)
	return w, e, n
}

// answered waits until what was asked in some words is answered, and returns the answer.
func (n *nvim) answered(e *world.Editor, title string) *sessions.ApprovalAnswer {
	n.t.Helper()
	return e.Until("the answer to "+title, func(m world.Notification) bool {
		return m.Approval != nil && strings.Contains(m.Approval.Title+m.Approval.Command+m.Approval.Detail, title) && m.Approval.Status == sessions.ApprovalAnswered
	}).Approval.Answer
}

// TestNvimFloatAndList: the float says what it has no room for, and is not above the list that shows it.
func TestNvimFloatAndList(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		names := strings.Fields("one two three four five six seven eight nine ten eleven twelve")
		options, err := json.Marshal(names)
		require.NoError(t, err)
		_, e, n := asker(t, bin, fmt.Sprintf(`{"fake":"question","text":"Which of twelve?","options":%s}`, options),
			`{"fake":"shell","ask":true,"command":"echo `+repeated("x", 9990)+`"}`)
		n.ex("Cursord ask q12")
		n.untilScreen("│11 eleven ")
		n.untilScreen("└ … 2 more lines: see :Cursord approvals · :Cursord deny ─")
		require.NotContains(t, n.screen(), "twelve  ")
		n.ex("Cursord approve 12")
		n.hears("cursord: read all of it; <CR> answers")
		n.until("the float is gone", noFloat)
		n.untilScreen("\nThe agent asks: Which of twelve?\n")
		n.ex("tabnew")
		n.untilScreen("… 2 more lines")
		n.ex("tabclose")
		n.until("the float is gone", noFloat)
		n.keys("q")
		n.untilScreen("… 2 more lines")
		n.ex("Cursord approvals")
		n.until("the float is gone", noFloat)
		for n.takes("gg/eleven<CR><CR>") {
			n.screen()
		}
		require.Equal(t, "o11", n.answered(e, "Which of twelve?").OptionID)
		n.until("the next question", "return vim.fn.search('xxxx', 'nw') > 0")
		n.keys("G")
		n.untilScreen(" Allow once\n")
		n.untilScreen(" Reject\n")
		n.until("no float", noFloat)
		n.keys("q")
		n.untilScreen("xxxxxxxx")
		for _, columns := range []float64{80, 50, 40} {
			n.lua("vim.o.columns = ...", columns)
			n.poll("what is missing", func() bool {
				screen := n.screen()
				return strings.Contains(screen, "└ … ") && strings.Contains(screen, ":Cursord approvals ")
			})
		}
		n.ex("Cursord deny")
		require.Equal(t, "reject-once", n.answered(e, "xxxx").OptionID)
		n.until("no float", noFloat)
	})
}

// TestNvimDeniesWithoutReading: a no needs no reading. A yes does.
func TestNvimDeniesWithoutReading(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		plan := `{"fake":"plan","text":"Paint it.` + repeated(`\n\nAnd again.`, 40) + `"}`
		_, e, n := asker(t, bin, plan, `{"fake":"wait","path":"go"}`, plan)
		n.ex("Cursord ask begin")
		n.untilScreen("Paint it.")
		n.ex("Cursord approve")
		n.hears("read all of it; <CR> answers")
		n.until("the list", "return vim.bo.filetype == 'cursordapprovals'")
		n.keys("q")
		n.untilScreen("more lines")
		n.ex("Cursord deny it is too long")
		answer := n.answered(e, "Paint it.")
		require.Equal(t, "it is too long", answer.Text)
		n.until("Neovim knows of the answer", "return #require('cursord.approvals').pending() == 0")
		n.w.Put("go", "")
		n.untilScreen("Paint it.")
		n.ex("Cursord approvals")
		n.untilScreen("<CR> give this answer")
		mark := len(e.All())
		n.ex("Cursord deny this one, too")
		n.poll("the answer", func() bool {
			for _, m := range e.All()[mark:] {
				if m.Approval != nil && m.Approval.Status == sessions.ApprovalAnswered {
					return m.Approval.Answer.Text == "this one, too"
				}
			}
			return false
		})
	})
}

func workers(params ...string) string {
	var options []string
	for _, name := range params {
		options = append(options, fmt.Sprintf(`{"id":%q,"label":%q}`, name, name))
	}
	return `{"fake":"request","method":"cursor/ask_question","params":{"toolCallId":"c` + params[len(params)-1] + `","questions":[{"id":"q","prompt":"How many of ` +
		params[len(params)-1] + `?","options":[` + strings.Join(options, ",") + `],"allowMultiple":false}]}}`
}

// TestNvimAnswersByWords: a word means what it means to "cursord approve", and the float says what to type.
func TestNvimAnswersByWords(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		_, e, n := asker(t, bin, workers("1", "2", "4", "8"), workers("1", "2", "4", "9"), workers("1", "7"), workers("1", "6"))
		n.ex("Cursord ask begin")
		for _, line := range []string{"│1 → 1 ", "│2 → 2 ", "│3 → 4 ", "│4. → 8 ", "│n → no answer; the agent goes on without one "} {
			n.untilScreen(line)
		}
		n.ex("Cursord approve 5")
		n.hears("cursord: 5 is no answer: say 1, 2, 3, 4. or n")
		n.ex("Cursord approve")
		n.hears("cursord: say which answer: 1, 2, 3, 4. or n")
		n.ex("Cursord approve 4")
		require.Equal(t, "4", n.answered(e, "How many of 8?").OptionID)
		n.untilScreen("4. → 9 ")
		n.ex("Cursord approve 4.")
		require.Equal(t, "9", n.answered(e, "How many of 9?").OptionID)
		n.untilScreen("2 → 7 ")
		n.ex("Cursord approve 7")
		require.Equal(t, "7", n.answered(e, "How many of 7?").OptionID)
		n.untilScreen("2 → 6 ")
		n.ex("Cursord approve n")
		require.Equal(t, "cursord:none", n.answered(e, "How many of 6?").OptionID)
	})
}

// TestNvimReadsAnswersAsTheCommandLine compares both on many words.
func TestNvimReadsAnswersAsTheCommandLine(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		n := neovim(world.New(t), t, bin, "")
		asked := func(kind sessions.ApprovalKind, text bool, options ...sessions.ApprovalOption) *sessions.Approval {
			return &sessions.Approval{ID: "k", Kind: kind, Title: "?", Text: text, Status: sessions.ApprovalPending, Options: options}
		}
		yes, no := sessions.ApprovalOption{ID: "yes", Label: "Allow", Kind: sessions.AllowOnce}, sessions.ApprovalOption{ID: "no", Label: "Y", Kind: sessions.RejectOnce}
		folder := sessions.ApprovalOption{ID: "cursord:folder", Label: "Always here", Kind: sessions.AllowAlways}
		choice := func(id, label string) sessions.ApprovalOption {
			return sessions.ApprovalOption{ID: id, Label: label, Kind: sessions.AnswerOption}
		}
		for _, a := range []*sessions.Approval{
			asked(sessions.ApprovalPermission, false, yes, folder, no), asked(sessions.ApprovalPermission, false, folder, no), asked(sessions.ApprovalPlan, true, yes, no),
			asked(sessions.ApprovalQuestion, true, choice("o1", "red"), choice("1", "blue"), choice("o3", "1"), choice("o4", "N"), choice("o5", "5")),
			asked(sessions.ApprovalQuestion, false, choice("1", "1"), choice("2", "2"), choice("4", "4"), choice("8", "8")),
			asked(sessions.ApprovalQuestion, false, choice("a", "2"), choice("b", "2."), choice("c", "É")), asked(sessions.ApprovalQuestion, true, []sessions.ApprovalOption{}...),
		} {
			for _, typed := range []string{
				"y", "Y", "y.", "n", "N", "n.", "a", "A", "a.", "0", "1", "1.", "2", "2.", "2..", "3", "4", "4.", "5", "8", "01", "1.0", "0x1", "1e0", "yes", "no", "o1", "o3", "b", "é",
				"É", "red", "cursord:folder", "cursord:none", `"green"`, `1 "dark"`, `y "dark"`, `n "dark"`, `9 "dark"`, `"`, `""`, `" "`, `"a"b"`, `call it "x"`, "yes please",
			} {
				answer, ok := approve.Read(a, typed)
				want := []any{ok, "", ""}
				if ok {
					want = []any{ok, answer.Option, answer.Text}
				}
				got := n.lua("local option, text = require('cursord.answers').read(...) return { option ~= nil, option or '', option and text or '' }", a, typed)
				require.Equal(t, want, got, "%s, typed for %+v", typed, a.Options)
				require.Equal(t, approve.Meant(typed), n.lua("return require('cursord.answers').meant(...)", typed), typed)
			}
			var words []string
			for _, line := range approve.All(a) {
				if word, _, _ := strings.Cut(line, " "); !strings.HasPrefix(word, `"`) && !strings.Contains(line, `"text"`) {
					words = append(words, word)
				}
			}
			require.Equal(t, strings.Join(words, " "), n.lua("return table.concat(require('cursord.answers').words(...), ' ')", a))
		}
	})
}

// TestNvimSaysWhoAsks: the float and the list name the session.
func TestNvimSaysWhoAsks(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e, n := asker(t, bin, `{"fake":"say","text":"slowly"}`, `{"fake":"wait","path":"go"}`)
		n.ex("Cursord ask slow")
		n.ex("Cursord chat")
		n.keys("<Esc>")
		n.untilScreen("slowly")
		w.Plays(`{"fake":"shell","ask":true,"command":"echo beta"}`)
		beta := e.Asks(world.Obj{"prompt": "beta, which asks", "isolation": "copy"})
		n.untilScreen("Session: beta, which asks")
		n.untilScreen("echo beta")
		n.ex("Cursord approvals")
		n.until("no float", noFloat)
		n.untilScreen("\nSession: beta, which asks\nThe agent asks for permission")
		n.keys("q")
		n.untilScreen("│  echo beta")
		n.ex("Cursord deny")
		e.Ends(beta.ID)
	})
}

// TestNvimAnswersInTheList: a command answers the question at the cursor in the list, and none of several from another window.
func TestNvimAnswersInTheList(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e, n := asker(t, bin, `{"fake":"shell","ask":true,"command":"echo first"}`)
		n.ex("Cursord ask first")
		n.untilScreen("│  echo first")
		w.Plays(`{"fake":"shell","ask":true,"command":"echo second"}`, `{"fake":"shell","ask":true,"command":"echo third"}`)
		second := e.Asks(world.Obj{"prompt": "second", "isolation": "copy"})
		n.untilScreen(" :Cursord approve · deny · approvals (1 more) ")
		n.ex("Cursord approvals")
		n.until("both are listed", "return vim.fn.search('echo second', 'nw') > 0")
		n.ex("wincmd p | Cursord deny")
		n.hears("cursord: several questions wait: go to the one that you answer, and say it here")
		n.untilScreen("echo second")
		n.keys("gg/Session: second<CR>")
		n.until("the cursor is there", "return vim.api.nvim_get_current_line():find('second', 1, true) ~= nil")
		n.keys(":Cursord approve 9<CR>")
		n.hears("there is more to read before you answer")
		n.keys(":redraw | Cursord approve y<CR>")
		require.Equal(t, "allow-once", n.answered(e, "echo second").OptionID)
		n.until("the next one", "return vim.fn.search('echo third', 'nw') > 0")
		require.Equal(t, "Session: first", n.lua("return vim.api.nvim_get_current_line()"), "the next one is not under the cursor")
		n.reads(1e9)
		n.ex("Cursord deny")
		n.hears("cursord: this question has just come: read it, then answer")
		n.reads(0)
		n.keys("G?echo<CR>:redraw | Cursord deny<CR>")
		require.Equal(t, "reject-once", n.answered(e, "echo third").OptionID)
		e.Ends(second.ID)
		require.Len(t, n.lua("return require('cursord.approvals').pending()"), 1)
	})
}
