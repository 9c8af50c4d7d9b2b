//go:build unix

package emacs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestEmacsAttempts looks at three attempts in a list, reviews and accepts one, checks another again, and drops them.
func TestEmacsAttempts(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Commits()
		w.Put("../config.toml", "attempt_check = \"cat way; exit $(cat way)\"\n")
		w.Plays(append(world.Shells("1", `echo "by {{model}}" >> f; echo {{model}} > way`), world.Says("It is {{model}}.", ""), world.Succeeds("It is {{model}}."))...)
		w.Start()
		w.Trusts()
		c := w.Opens()
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (find-file "` + w.Path("f") + `") (cursord-attempts) nil)`)
		list, _ := e.eval(`(buffer-name (seq-find (lambda (b) (string-prefix-p "*cursord attempts" (buffer-name b))) (buffer-list)))`).(string)
		require.Contains(t, e.buffer(list), `Nothing yet: in a terminal, cursord run --attempts 3 "…" begins attempts.`)
		e.until("it counts as unmodified", `(with-current-buffer %q (not (buffer-modified-p)))`, list)
		for i := range 3 {
			c.Asks(world.Obj{"prompt": "make it two", "model": fmt.Sprint(i), "attempt": world.Obj{"group": "g", "number": i + 1, "of": 3}})
		}
		in := func(body string) string { return `(with-current-buffer "` + list + `" ` + body + `)` }
		has := func(text string) string {
			return in(fmt.Sprintf(`(progn (cursord--list-show) (string-match-p %q (buffer-string)))`, text))
		}
		at := func(n int, command string) {
			e.eval(in(fmt.Sprintf(`(progn (goto-char (point-min)) (re-search-forward "^ *%d ") (call-interactively #'%s) nil)`, n, command)))
		}
		for i, check := range []string{"passed", "exit 1", "exit 2"} {
			e.until("attempt", has(fmt.Sprintf(`%d +completed +2 files \+2 -0 +%s .*It is %d\.`, i+1, check, i)))
		}
		e.until("the hunks", in(`(= 6 (let ((n 0)) (maphash (lambda (_ d) (setq n (+ n (length (plist-get d :hunks))))) (cursord-workspace-diffs cursord-buffer-workspace)) n))`))
		at(2, "cursord-attempts-output")
		require.Contains(t, e.buffer("*cursord check*"), "$ cat way; exit $(cat way)")
		require.Contains(t, e.buffer("*cursord check*"), "exit code 1")
		at(2, "cursord-attempts-review")
		require.Contains(t, e.eval(`(with-current-buffer (window-buffer) (buffer-substring-no-properties (point) (point-max)))`), "+by 1")

		at(3, "cursord-attempts-accept")
		e.until("it is accepted", has(`3 +completed +nothing `))
		require.Equal(t, "2\n", w.Get("way"))
		require.Equal(t, "one\nby 2\n", w.Get("f"))
		e.until("the others are beside it", has("beside yours"))

		w.Put("../config.toml", "attempt_check = \"echo better\"\n")
		c.Must("daemon/reload", nil, nil)
		at(2, "cursord-attempts-check")
		e.until("it passes", has(`2 +completed .* passed `))

		e.eval(`(progn (test-answer t) (test-answer nil) (test-answer t) (test-answer t) nil)`)
		at(1, "cursord-attempts-drop")
		require.Equal(t, "Drop 1 attempt with 2 hunks to review? ", e.eval(`(car asked)`))
		at(2, "cursord-attempts-drop-others") // the answer is no
		require.Regexp(t, `(?m)^ *3 +completed`, e.buffer(list))
		e.until("one is gone", `(not `+has(`^ *1 +completed`)+`)`)
		at(2, "cursord-attempts-drop-others")
		e.until("two are gone", `(not `+has(`^ *3 +completed`)+`)`)
		at(2, "cursord-attempts-drop-all")
		e.until("nothing is left", has("Nothing yet"))
		var left rpc.AttemptList
		c.Must("attempt/list", world.Obj{"workspace": w.Root}, &left)
		require.Empty(t, left.Groups)
	})
}

// TestEmacsPromptsGoToNoAttempt: the next prompt goes to the latest session, but to none of several attempts.
func TestEmacsPromptsGoToNoAttempt(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
		w.Start()
		w.Trusts()
		c := w.Opens()
		session := c.Turn(world.Obj{"prompt": "first"}).SessionID
		for i := range 2 {
			c.Turn(world.Obj{"prompt": "attempt", "attempt": world.Obj{"group": "g", "number": i + 1, "of": 2}})
		}
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (find-file "` + w.Path("f") + `") (cursord-send (cursord-workspace-open) "go on") nil)`)
		c.Until("the turn", func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.Prompt == "go on" && n.Turn.SessionID == session
		})
	})
}
