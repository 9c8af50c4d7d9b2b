//go:build unix

package emacs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// asks is the buffer of what agents ask.
const asks = "*cursord asks*"

// script is a line of the fake agent's script.
func script(of world.Obj) string {
	line, _ := json.Marshal(of)
	return string(line)
}

// pending are the approvals that nobody has answered.
func pending(c *world.Editor) []*sessions.Approval {
	var found struct{ Approvals []*sessions.Approval }
	c.Must("approval/list", world.Obj{}, &found)
	return found.Approvals
}

// untilAsked waits until the agent asks something with part in it, and Emacs lists it.
func untilAsked(c *world.Editor, e *emacs, part string) (asked *sessions.Approval) {
	e.t.Helper()
	e.poll(part, func() bool {
		for _, a := range pending(c) {
			if strings.Contains(a.Command+a.Title+a.Detail, part) {
				asked = a
				return e.eval(`(or (and (get-buffer %[1]q) (with-current-buffer %[1]q (and (cursord--approval-find %[2]q) t))) :json-false)`, asks, a.ID) == true
			}
		}
		return false
	})
	return asked
}

// theAnswer waits until an approval is answered.
func theAnswer(c *world.Editor, e *emacs, id string) sessions.ApprovalAnswer {
	e.t.Helper()
	return *c.Until("the answer", func(m world.Notification) bool {
		return m.Approval != nil && m.Approval.ID == id && m.Approval.Status != sessions.ApprovalPending
	}).Approval.Answer
}

// isPending reports whether nobody has answered an approval.
func isPending(c *world.Editor, id string) bool {
	return slices.ContainsFunc(pending(c), func(a *sessions.Approval) bool { return a.ID == id })
}

// page is the screen once it shows what the selected window begins with.
func page(tm *world.Tmux, e *emacs) string {
	e.t.Helper()
	first := e.eval(`(buffer-substring-no-properties (window-start) (min (point-max) (+ 8 (window-start))))`).(string)
	untilScreen(tm, e, regexp.QuoteMeta(first))
	return tm.Screen()
}

// readsOn presses a key until it has answered an approval, and returns all screens before that.
func readsOn(c *world.Editor, tm *world.Tmux, e *emacs, key, id string) string {
	e.t.Helper()
	var seen strings.Builder
	for range 200 {
		start := e.eval(`(window-start)`)
		seen.WriteString(page(tm, e))
		tm.Types(key)
		var answered bool
		e.poll("the key", func() bool {
			moved := start != e.eval(`(window-start)`)
			answered = !isPending(c, id)
			return answered || moved
		})
		if answered {
			return seen.String()
		}
		untilScreen(tm, e, `There is more to read`)
	}
	e.t.Fatal("there is always more to read")
	return ""
}

// TestEmacsAllowsOnlyWhatWasRead: a yes is given only once all of the question was on the screen; its key goes on to the rest. A no
// needs no reading.
func TestEmacsAllowsOnlyWhatWasRead(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		var words []string
		for i := range 1100 {
			words = append(words, fmt.Sprintf("word%04d", i))
		}
		long := "echo " + strings.Join(words, " ") + " >/dev/null && echo end >>ran"
		var steps []string
		for i := range 29 {
			steps = append(steps, fmt.Sprintf("%d. step number%02d of a plan that is long", i+1, i+1))
		}
		_, c, e, tm := aQuestion(t, bin, script(world.Obj{"fake": "shell", "ask": true, "command": long}),
			script(world.Obj{"fake": "plan", "text": strings.Join(steps, "\n")}), script(world.Obj{"fake": "shell", "ask": true, "command": long}))
		require.NoError(t, tm.Command("resize-window", "-x", "80", "-y", "24").Run())
		e.until("the size", `(= 80 (frame-width))`)
		e.eval(`(progn (setq cursord--approval-reading 0 message-log-max t) (keymap-global-set "C-c a" cursord-command-map) nil)`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		one := untilAsked(c, e, "word0000")
		untilScreen(tm, e, `(?s)y yes .*word0000.*cursord asks`)
		seen := tm.Screen()
		tm.Types("C-c", "a", "q")
		e.until("the buffer", `(equal (buffer-name) %q)`, asks)
		// Where lines are cut, all lines are in the window, but not their ends.
		e.eval(`(progn (setq truncate-lines t) (redisplay t) nil)`)
		untilScreen(tm, e, `(?s)word0000.*4 Reject`)
		tm.Types("y")
		untilScreen(tm, e, `There is more to read before you answer`)
		seen += page(tm, e)
		require.True(t, isPending(c, one.ID))
		for _, key := range []string{"a", "1", "2", "y"} {
			tm.Types("M->", "Up") // what is between was not read
			untilScreen(tm, e, `echo end >>ran`)
			seen += tm.Screen()
			e.until("point in the question", `(and (not (eobp)) (get-text-property (point) 'cursord-approval))`)
			tm.Types(key)
			e.until("what was not read", `(not (pos-visible-in-window-p (- (point-max) 2)))`)
			require.True(t, isPending(c, one.ID))
			seen += page(tm, e)
		}
		seen += readsOn(c, tm, e, "y", one.ID)
		require.Equal(t, "allow-once", theAnswer(c, e, one.ID).OptionID)
		for _, word := range words {
			require.True(t, strings.Contains(seen, word), word)
		}

		plan := untilAsked(c, e, "number29")
		require.NoError(t, tm.Command("resize-window", "-x", "50", "-y", "24").Run())
		e.until("the size", `(= 50 (frame-width))`)
		e.command("cursord-approvals")
		e.eval(`(progn (goto-char (point-min)) (search-forward "1 Accept") (recenter 0) nil)`)
		tm.Types("Enter") // the answer at point
		untilScreen(tm, e, `There is more to read`)
		require.True(t, isPending(c, plan.ID))
		untilScreen(tm, e, `number01`)
		for range 30 {
			if strings.Contains(tm.Screen(), "1 Accept") {
				break
			}
			page := e.eval(`(window-start)`)
			tm.Types("C-v")
			e.until("the next page", `(not (= %v (window-start)))`, page)
		}
		untilScreen(tm, e, `1 Accept`)
		tm.Types("y")
		require.Equal(t, "accept", theAnswer(c, e, plan.ID).OptionID)

		two := untilAsked(c, e, "word0000")
		tm.Types("n")
		require.Equal(t, "reject-once", theAnswer(c, e, two.ID).OptionID)
		c.Ends(turn.ID)
		e.quiet()
	})
}

// twelve is a line of a script: a question with twelve answers.
func twelve() string {
	var options []string
	for i := range 12 {
		options = append(options, fmt.Sprintf("Colour %c", 'A'+i))
	}
	return script(world.Obj{"fake": "question", "text": "Which?", "options": options})
}

// TestEmacsAnswersAboveNine: where there are more than nine answers, a digit begins a number.
func TestEmacsAnswersAboveNine(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		which := twelve()
		_, c, e, tm := aQuestion(t, bin, which, which, which)
		e.eval(`(setq cursord--approval-reading 0)`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		for _, test := range []struct {
			keys []string
			want string
		}{{[]string{"1", "2", "Enter"}, "o12"}, {[]string{"1", "Enter"}, "o1"}, {[]string{"1", "BSpace", "1", "1", "Space", "Tab", "Enter"}, "o11"}} {
			one := untilAsked(c, e, "Which?")
			require.Contains(t, e.buffer(asks), "12 Colour L\nA digit begins a number, and RET ends it.\n")
			e.command("cursord-approvals")
			tm.Types(test.keys[0])
			untilScreen(tm, e, `\nThe number of the answer, 1 to 12: 1$`)
			require.True(t, isPending(c, one.ID))
			tm.Types(test.keys[1:]...)
			require.Equal(t, test.want, theAnswer(c, e, one.ID).OptionID)
		}
		c.Ends(turn.ID)
		e.quiet()
	})
}

// TestEmacsNumbersOfUnreadQuestions: a digit begins the number of one of many answers also where the question is not in the window or
// has just come; RET refuses the number then, and RET in the list answers nothing where scrolling has put point.
func TestEmacsNumbersOfUnreadQuestions(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		which := twelve()
		_, c, e, tm := aQuestion(t, bin, which, which)
		require.NoError(t, tm.Command("resize-window", "-x", "80", "-y", "24").Run())
		e.until("the size", `(> 25 (frame-height))`)
		e.eval(`(setq cursord--approval-reading 3600)`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		number := func() {
			t.Helper()
			tm.Types("1")
			untilScreen(tm, e, `\nThe number of the answer, 1 to 12: 1$`)
			tm.Types("2", "Enter")
		}
		for _, test := range []struct {
			lines int
			early bool
			point string // what RET says after the scrolling
		}{{4, false, `Scrolling has put point here: move it to your answer, then press RET`}, {10, true, `There is no answer in this line`}} {
			one := untilAsked(c, e, "Which?")
			e.command("cursord-approvals")
			e.eval(`(progn (window-resize nil (- %d (window-body-height))) nil)`, test.lines)
			e.eval(`(progn (goto-char (point-min)) (set-window-start nil (point-min)) (setq cursord--approval-came %s cursord--approval-reading 3600) nil)`,
				map[bool]string{true: "(cons (current-time) (point))", false: "nil"}[test.early])
			e.until("an answer below the window", `(progn (redisplay t) (not (pos-visible-in-window-p (- (point-max) 2))))`)
			number()
			untilScreen(tm, e, `There is more to read before you answer, then type the number again`)
			require.True(t, isPending(c, one.ID))
			e.eval(`(progn (setq cursord--approval-reading 0) nil)`)
			tm.Types("Enter")
			untilScreen(tm, e, test.point)
			require.True(t, isPending(c, one.ID))
			e.eval(`(progn (setq cursord--approval-reading 3600) nil)`)
			number() // at once
			untilScreen(tm, e, `type the number again`)
			require.True(t, isPending(c, one.ID))
			e.eval(`(progn (setq cursord--approval-reading 0) nil)`)
			e.eval(`(progn (window-resize nil (- 16 (window-body-height))) (goto-char (point-min)) (set-window-start nil (point-min)) nil)`)
			e.until("all of it on the screen", `(progn (redisplay t) (cursord--approvals-note) (null (cursord--approval-unread %q)))`, one.ID)
			e.eval(`(progn (window-resize nil (- %d (window-body-height))) nil)`, test.lines)
			// To where scrolling puts point.
			e.eval(`(progn (goto-char (point-min)) (search-forward "1 Colour A") (beginning-of-line) (set-window-start nil (point)) (redisplay t) nil)`)
			tm.Types("C-v")
			e.until("another answer at point", `(let ((at (get-text-property (point) 'cursord-option))) (and at (not (equal at "o1"))))`)
			tm.Types("Enter")
			untilScreen(tm, e, `Scrolling has put point here`)
			require.True(t, isPending(c, one.ID))
			if test.early {
				here := e.eval(`(get-text-property (point) 'cursord-option)`)
				tm.Types("C-n", "C-p", "Enter") // the person has put point there now
				require.Equal(t, here, theAnswer(c, e, one.ID).OptionID)
				continue
			}
			e.eval(`(progn (cursord--approval-came-here) (setq cursord--approval-reading 3600) nil)`)
			number()
			untilScreen(tm, e, `This has just come: read it, and type the number again`)
			require.True(t, isPending(c, one.ID))
			e.eval(`(progn (setq cursord--approval-reading 0) nil)`)
			number()
			require.Equal(t, "o12", theAnswer(c, e, one.ID).OptionID)
		}
		c.Ends(turn.ID)
		e.quiet()
	})
}

// TestEmacsGoesOnToTheNextQuestion: after an answer, point is at the next question, whose beginning is in the window; the list says who
// asks, and the mode line how many ask, beside the hunks.
func TestEmacsGoesOnToTheNextQuestion(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\nparallel_turns = 3\n")
		w.Put("f", "one\n")
		w.Put("../other/g", "two\n")
		w.Start()
		w.Trusts()
		c := w.Opens()
		e, tm := terminalEmacs(w, t, bin, "(cursord-mode)")
		e.eval(`(progn (setq cursord--approval-reading 0) (find-file %q) (cursord-workspace-open) nil)`, w.Path("f"))
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		var turns []string
		var asked []*sessions.Approval
		for _, name := range []string{"first", "second", "third"} {
			w.Plays(script(world.Obj{"fake": "plan", "text": name + " plan\n" + strings.Repeat("a step\n", 12)}))
			turns = append(turns, c.Asks(world.Obj{"prompt": "make the " + name}).ID)
			asked = append(asked, untilAsked(c, e, name+" plan"))
		}
		require.Equal(t, 3, strings.Count(e.buffer(asks), "Session: make the "))
		require.Contains(t, e.buffer(asks), "Session: make the second\nThe agent has a plan")
		require.Equal(t, " cu[asks you 3×]", e.eval(`(substring-no-properties (cursord-lighter))`))
		e.command("cursord-approvals")
		for i, name := range []string{"second", "third"} {
			readsOn(c, tm, e, "y", asked[i].ID)
			require.Equal(t, "accept", theAnswer(c, e, asked[i].ID).OptionID)
			e.until("point at the next one", `(and (looking-at-p "Session: make the %s\n") (pos-visible-in-window-p))`, name)
			untilScreen(tm, e, `(?s)Session: make the `+name+`.*`+name+` plan`)
		}
		require.Equal(t, " cu[asks you]", e.eval(`(substring-no-properties (cursord-lighter))`))
		// The hunks are called so.
		require.Equal(t, " cu[asks you, 2 hunks]", e.eval(`(cl-letf (((symbol-function 'cursord-pending) (lambda (_) '(2 . 1)))) (substring-no-properties (cursord-lighter)))`))
		// There is no room for them in a narrow window.
		require.Equal(t, " cu[asks you]", e.eval(`(cl-letf (((symbol-function 'cursord-pending) (lambda (_) '(2 . 1))) ((symbol-function 'window-width) (lambda () 50))) (substring-no-properties (cursord-lighter)))`))
		// A question of another folder says so.
		e.eval(`(progn (cursord-workspace-open %q) nil)`, w.Path("../other/"))
		e.poll("the folder", func() bool {
			e.eval(`(progn (cursord--approvals-draw) nil)`)
			return strings.Contains(e.buffer(asks), "Session: make the third, in ")
		})
		tm.Types("n")
		for _, turn := range turns {
			c.Ends(turn)
		}
		e.quiet()
	})
}

// TestEmacsOneWindowForQuestions: beside an open prompt, the next question is in the window of the one before.
func TestEmacsOneWindowForQuestions(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		_, c, e, tm := aQuestion(t, bin, `{"fake":"shell","ask":true,"command":"echo one"}`, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`)
		e.eval(`(progn (keymap-global-set "C-c a" cursord-command-map) (setq cursord--approval-reading 0) nil)`)
		c.Asks(world.Obj{"prompt": "begin"})
		e.poll("the permission", func() bool { return strings.Contains(e.buffer(asks), "echo one") })
		tm.Types("C-c", "a", "Space")
		untilScreen(tm, e, `(?m)^Ask.*:$`)
		tm.Types("next prompt dr")
		untilScreen(tm, e, `next prompt dr`)
		tm.Types("C-c", "a", "q")
		e.until("its window", `(equal (buffer-name (window-buffer)) %q)`, asks)
		tm.Types("y")
		e.poll("the question", func() bool { return strings.Contains(e.buffer(asks), "Which colour?") })
		require.EqualValues(t, 1, e.eval(`(length (get-buffer-window-list %q nil t))`, asks))
		e.quiet()
	})
}
