//go:build unix

package emacs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// chatName is the name of the buffer of the workspace's chat.
const chatName = "*cursord: ws*"

// emacsAnswers answers questions: with yes or no, and with choices.
const emacsAnswers = `(progn
  (defvar asked nil)
  (defvar answers nil)
  (defun yes-or-no-p (prompt) (push prompt asked) (pop answers))
  (defun test-answer (answer) (setq answers (append answers (list answer)))))`

// TestEmacsChat asks from a buffer: Emacs asks for trust and keeps the draft, the answer streams, and thoughts fold.
func TestEmacsChat(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("src/a.go", "package a\n\nfunc a() {}\n")
		w.Put("src/b.go", "package b\n")
		w.Git("init", "-q")
		w.Plays(
			`{"type":"thinking","subtype":"delta","text":"Hm.\nWell."}`, `{"type":"thinking","subtype":"completed"}`,
			world.Streams("First "), world.Streams("wörds 😀\n\n- an item `code`\n\n```go\nfunc x() {}\n```\n"),
			`{"fake":"wait","path":"{{cwd}}/../go"}`,
			`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
			`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"failure":{"command":"make","exitCode":2,"stdout":"one\ntwo\n","stderr":""}}}}}`,
			world.Streams("Last words"), world.Done)
		w.Start()
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (find-file %q) (goto-char (point-min)) (forward-line 2) (push-mark (line-end-position) t t) (cursord-compose) nil)`, w.Path("src/a.go"))
		require.Equal(t, "cursord-compose-mode", e.eval(`major-mode`))
		require.Equal(t, "@region ", e.eval(`(buffer-string)`))

		// The draft stays when the person leaves it, and when it cannot be sent.
		e.eval(`(progn (insert "see @sr") (completion-at-point) nil)`)
		require.Equal(t, "@region see @src/", e.eval(`(buffer-string)`))
		e.keys("b.go SPC please C-c C-k")
		require.Equal(t, "a.go", e.eval(`(buffer-name)`))
		e.eval(`(progn (setq mark-active nil) (cursord-compose) nil)`)
		require.Equal(t, "@region see @src/b.go please", e.eval(`(buffer-string)`))
		e.eval(`(test-answer nil)`)
		require.Contains(t, e.eval(`(condition-case err (cursord-compose-send) (user-error (cadr err)))`), "Nothing was sent")
		require.Empty(t, w.Runs())
		require.Equal(t, "@region see @src/b.go please", e.eval(`(buffer-string)`))
		e.eval(`(progn (test-answer t) (cursord-compose-send) nil)`)
		require.Equal(t, "a.go", e.eval(`(buffer-name)`), "nothing has taken the window")
		require.Equal(t, "May the agent run commands and change files in ~/ws/? ", e.eval(`(car asked)`))
		first := `
## You

@region see @src/b.go please

## Cursor%s

∴ Thinking
  │ Hm.
  │ Well.

First wörds 😀

- an item ` + "`code`\n\n```go\nfunc x() {}\n```\n"
		e.untilBuffer(chatName, fmt.Sprintf(first, "  working")+"\n")
		require.Equal(t, true, e.eval(`(and (get-buffer-window %q) t)`, chatName))
		require.Regexp(t, `^ working · (auto · )?\d:\d\d · k cancel$`, e.eval(`(substring-no-properties (with-current-buffer %q (cursord--chat-header)))`, chatName))

		// The thoughts are folded, and TAB shows them.
		hidden := fmt.Sprintf(`(with-current-buffer %q (goto-char (point-min)) (search-forward "Hm.") (and (invisible-p (1- (point))) t))`, chatName)
		require.Equal(t, true, e.eval(hidden))
		e.eval(`(with-current-buffer %q (goto-char (point-min)) (search-forward "Thinking") (cursord-toggle) nil)`, chatName)
		require.Nil(t, e.eval(hidden))
		require.Equal(t, "cursord-code", e.eval(`(with-current-buffer %q (goto-char (point-min)) (search-forward "code") (get-text-property (1- (point)) 'face))`, chatName))
		require.Equal(t, true, e.eval(`(with-current-buffer %q (condition-case nil (progn (goto-char (point-max)) (let ((buffer-read-only nil)) (backward-delete-char 1)) nil) (text-read-only t)))`, chatName))

		w.Put("../go", "")
		e.untilBuffer(chatName, fmt.Sprintf(first, "")+`
✗ make (exit status 2)
  │ one
  │ two

Last words
`)
		e.until("the message of its end", `(with-current-buffer (messages-buffer) (goto-char (point-min)) (search-forward "cursord: done" nil t))`)
		require.Equal(t, "<context>\n<selection path=\"src/a.go\" lines=\"3\">\nfunc a() {}\n</selection>\n<file path=\"src/b.go\" />\n</context>\n\n@region see @src/b.go please",
			strings.TrimSpace(w.Runs()[0].Prompt))
		e.quiet()
	})
}

// TestEmacsScrolledWindowStays has two windows on an answer that grows: one at its beginning stays, one at its end follows.
func TestEmacsScrolledWindowStays(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams(strings.Repeat("a line\n", 60)), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams(strings.Repeat("more\n", 60)+"the end"), world.Done)
		w.Start()
		w.Trusts()
		e := startEmacs(w, t, bin, "")
		e.eval(`(progn (cursord) (cursord-send (cursord-workspace-open) "x") (delete-other-windows) nil)`)
		e.until("the first part", `(= 60 (how-many "a line" (point-min) (point-max)))`)
		e.eval(`(progn (split-window) (set-window-point (next-window) (point-max)) (goto-char (point-min)) (forward-line 10) nil)`)
		at := e.eval(`(list (line-number-at-pos) (line-number-at-pos (window-point)) (buffer-name))`)
		w.Put("../go", "")
		e.until("the rest", `(save-excursion (goto-char (point-min)) (search-forward "the end" nil t))`)
		e.until("the end of the turn", `(eq (cursord-state (cursord-workspace-find)) 'idle)`)
		require.Equal(t, at, e.eval(`(list (line-number-at-pos) (line-number-at-pos (window-point)) (buffer-name))`))
		require.Equal(t, true, e.eval(`(= (window-point (next-window)) (point-max))`))
		e.quiet()
	})
}

// TestEmacsCrashesAndRestarts kills Emacs and then the daemon in the middle of turns; two Emacsen show the same chat.
func TestEmacsCrashesAndRestarts(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("I begin. "), world.Streams("I wait. "), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams("I end."), world.Done)
		w.Start()
		w.Trusts()
		e := startEmacs(w, t, bin, "")
		e.eval(`(progn (cursord) (cursord-send (cursord-workspace-open) "go on") nil)`)
		e.untilBuffer(chatName, "\n## You\n\ngo on\n\n## Cursor  working\n\nI begin. I wait. \n")
		e.kill()

		e = startEmacs(w, t, bin, "")
		other := startEmacs(w, t, bin, "")
		for _, e := range []*emacs{e, other} {
			e.eval(`(progn (cursord) nil)`)
			e.untilBuffer(chatName, "\n## You\n\ngo on\n\n## Cursor  working\n\nI begin. I wait. \n")
		}
		w.Put("../go", "")
		for _, e := range []*emacs{e, other} {
			e.untilBuffer(chatName, "\n## You\n\ngo on\n\n## Cursor\n\nI begin. I wait. I end.\n")
		}

		w.Plays(world.Streams("I wait again. "), `{"fake":"wait","path":"{{cwd}}/../never"}`, world.Done)
		e.eval(`(progn (cursord-send (cursord-workspace-open) "once more") nil)`)
		other.until("what another has asked", `(save-excursion (goto-char (point-min)) (search-forward "I wait again." nil t))`)
		w.Kill()
		t.Cleanup(func() { w.Cursord("stop", "--force") })
		all := "\n## You\n\ngo on\n\n## Cursor\n\nI begin. I wait. I end.\n\n## You\n\nonce more\n\n## Cursor  interrupted\n\nI wait again. \n"
		for _, e := range []*emacs{e, other} {
			e.poll("what the crash has left", func() bool { return strings.HasPrefix(e.buffer(chatName), strings.TrimSuffix(all, "I wait again. \n")) })
		}
		w.Plays(world.Streams("Here again."), world.Done)
		other.eval(`(progn (cursord-send (cursord-workspace-open) "and now?") nil)`)
		for _, e := range []*emacs{e, other} {
			e.poll("the answer", func() bool {
				return strings.HasSuffix(e.buffer(chatName), "\n\n## You\n\nand now?\n\n## Cursor\n\nHere again.\n")
			})
		}
		require.Equal(t, e.buffer(chatName), other.buffer(chatName))
		want := e.buffer(chatName)
		e.eval(`(progn (cursord-chat-resync) nil)`)
		e.until("all of it again", `(= (buffer-size) %d)`, len([]rune(want)))
		require.Equal(t, want, e.buffer(chatName))
		e.quiet()
		other.quiet()
	})
}

// TestEmacsSessions ends turns, begins sessions and goes back to earlier ones, and reads the pages of a long one.
func TestEmacsSessions(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		w.Trusts()
		long := []string{}
		for i := range 120 {
			long = append(long, fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":"%d","tool_call":{"readToolCall":{"args":{"path":"f%d"}}}}`, i, i),
				fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":"%d","tool_call":{"readToolCall":{"args":{"path":"f%d"},"result":{"success":{"content":"x"}}}}}`, i, i))
		}
		w.Plays(append(long, world.Done)...)
		c := w.Joins()
		c.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
		first := c.Turn(world.Obj{"prompt": "a long one"})
		w.Plays(world.Streams("I hang."), `{"fake":"hang"}`)
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (cursord) nil)`)
		e.until("the latest page", `(and (save-excursion (goto-char (point-min)) (looking-at "Load older messages\n")) (< 90 (how-many "^✓" (point-min) (point-max)) 120))`)
		e.eval(`(progn (goto-char (point-min)) (cursord-visit) nil)`)
		e.until("all of it", `(and (= 120 (how-many "^✓" (point-min) (point-max))) (not (get-text-property (point-min) 'cursord-older)))`)
		lines := strings.Split(e.buffer(chatName), "\n")
		for i := range 120 {
			require.Contains(t, lines[7+i*2], fmt.Sprintf("f%d", i), "line %d", 7+i*2)
		}
		require.Equal(t, "This is the beginning", e.eval(`(condition-case err (cursord-older) (user-error (cadr err)))`))

		// A new session, whose turn is cancelled.
		e.eval(`(progn (cursord '(4)) nil)`)
		e.untilBuffer(chatName, "")
		e.eval(`(progn (cursord-set-mode "ask") (cursord-send (cursord-workspace-open) "stay" ) nil)`)
		e.untilBuffer(chatName, "\n## You\n\nstay\n\n## Cursor  working\n\nI hang.\n")
		require.Equal(t, "ask", e.eval(`(plist-get (cursord-session (cursord-workspace-find)) :mode)`))
		e.eval(`(progn (cursord-cancel) nil)`)
		e.untilBuffer(chatName, "\n## You\n\nstay\n\n## Cursor  cancelled\n\nI hang.\n\n> The turn was cancelled; its changes stay.\n")
		require.Equal(t, "Nothing runs here", e.eval(`(condition-case err (cursord-cancel) (user-error (cadr err)))`))

		// Back to the first session; the other can be deleted.
		e.eval(`(cl-letf (((symbol-function 'completing-read) (lambda (_ table &rest _) (seq-find (lambda (name) (string-match-p "long" name)) (all-completions "" table)))))
			(cursord-resume) nil)`)
		e.until("the first session", `(save-excursion (goto-char (point-min)) (search-forward "Load older" nil t))`)
		require.Equal(t, first.SessionID, e.eval(`(cursord-workspace-current (cursord-workspace-find))`))
		e.eval(`(progn (cursord-rename-session "renamed") nil)`)
		e.until("its title", `(equal "renamed" (plist-get (cursord-session (cursord-workspace-find)) :title))`)
		e.eval(`(cl-letf (((symbol-function 'completing-read) (lambda (_ table &rest _) "renamed")))
			(test-answer t) (cursord-delete-session) nil)`)
		e.untilBuffer(chatName, "")
		require.Equal(t, "~/ws/: idle, 0 hunks", e.eval(`(progn (require 'cursord-menu) (cursord--menu-title))`))
		e.quiet()
	})
}

// TestEmacsTokens asks with a region, diagnostics and unsaved text.
func TestEmacsTokens(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a.txt", "ä one\ntwo\nthree\n")
		w.Start()
		w.Trusts()
		e := startEmacs(w, t, bin, `(defun test-backend (report &rest _)
			(funcall report (list (flymake-make-diagnostic (current-buffer) 3 6 :error "bad word")
			                      (flymake-make-diagnostic (current-buffer) 7 10 :warning "odd word"))))`)
		e.eval(`(progn (find-file %q) (add-hook 'flymake-diagnostic-functions 'test-backend nil t) (flymake-mode) (flymake-start) nil)`, w.Path("a.txt"))
		e.until("the diagnostics", `(= 2 (length (flymake-diagnostics)))`)
		e.eval(`(progn (goto-char 3) (push-mark 6 t t) nil)`)
		e.eval(`(cl-letf (((symbol-function 'read-from-minibuffer) (lambda (&rest _) "why @diagnostics and @a.txt:2-3, mail@example.com")))
			(setq cursord-show-chat-on-ask nil)
			(cursord-ask) nil)`)
		e.poll("the agent's start", func() bool { return len(w.Runs()) == 1 })
		require.Equal(t, `<context>
<diagnostics path="a.txt">
1:3 error: bad word
2:1 warning: odd word
</diagnostics>
<file path="a.txt" lines="2-3" />
<selection path="a.txt" lines="1">
one
</selection>
</context>

why @diagnostics and @a.txt:2-3, mail@example.com @region`, strings.TrimSpace(w.Runs()[0].Prompt))
		require.Equal(t, "a.txt", e.eval(`(buffer-name)`))
		e.eval(`(progn (goto-char (point-max)) (insert "new\n") (cursord-send (cursord-workspace-open) "look at @buffer" (cursord-origin-here)) nil)`)
		e.poll("the agent's start", func() bool { return len(w.Runs()) == 2 })
		require.Contains(t, w.Runs()[1].Prompt, "three\nnew\n")
		require.Equal(t, "There are no @changes: there is nothing to review",
			e.eval(`(condition-case err (cursord-send (cursord-workspace-open) "@changes") (user-error (cadr err)))`))
	})
}

// TestEmacsPlaces opens directories that no daemon serves, which Emacs refuses, and one on another machine.
func TestEmacsPlaces(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("sub/x", "")
		w.Start()
		w.Put("../bin/ssh", "#!/bin/sh\nfor last; do :; done\necho \"$@\" >>"+w.Path("../ssh.log")+"\nexec sh -c \"$last\"\n")
		require.NoError(t, os.Chmod(w.Path("../bin/ssh"), 0o755))
		e := startEmacs(w, t, bin, `(setenv "CURSORD_SSH" "`+filepath.Join(w.Dir, "bin", "ssh")+`")`)
		for dir, want := range map[string]string{
			"/sudo:root@localhost:/etc/": "by \"sudo\" are not supported",
			"/ssh:a|ssh:b:/etc/":         "More than one hop",
			"/ssh:b#22:/etc/":            "~/.ssh/config",
			w.Path("none") + "/":         "is not a directory",
		} {
			require.Contains(t, e.eval(`(condition-case err (cl-letf (((symbol-function 'file-truename) #'identity)
			         ((symbol-function 'file-directory-p) (lambda (dir) (and (string-match-p "\\`+"`"+`/ss\\|/sudo" dir) t))))
			    (cursord-workspace-open %q) "opened") (user-error (cadr err)))`, dir), want)
		}
		// The directory has the same name on both machines.
		e.eval(`(cl-letf (((symbol-function 'file-truename) #'identity) ((symbol-function 'file-directory-p) (lambda (_) t)))
			(cursord-workspace-open %q) nil)`, "/ssh:me@build:"+w.Root+"/")
		e.until("the subscription there", `(cursord-workspace-ready (car cursord-workspaces))`)
		require.Equal(t, "me@build", e.eval(`(cursord-workspace-host (car cursord-workspaces))`))
		require.Equal(t, "/ssh:me@build:"+w.Path("sub/x"), e.eval(`(cursord-file (car cursord-workspaces) "sub/x")`))
		require.Contains(t, w.Get("../ssh.log"), "-- me@build cursord stdio")
	})
}

// TestEmacsAttention goes to each project where something waits, and to no other.
func TestEmacsAttention(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		e := startEmacs(w, t, bin, "")
		c := w.Joins()
		roots := []string{"quiet", "failed", "answered", "changed"}
		for _, name := range roots {
			w.Put(name+"/f", "one\n")
			root := w.Path(name)
			c.Must("workspace/trust", world.Obj{"workspace": root, "trusted": true}, nil)
			e.eval(`(progn (cursord-workspace-open %q) nil)`, root)
			e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-at %q))`, root+"/")
		}
		require.Equal(t, "Nothing waits for you", e.eval(`(condition-case err (cursord-next-attention) (user-error (cadr err)))`))
		ask := func(name, want string, lines ...string) {
			w.Plays(lines...)
			e.eval(`(progn (cursord-send (cursord-workspace-at %q) "do it") nil)`, w.Path(name)+"/")
			e.until("the end in "+name, `(let ((ws (cursord-workspace-at %q))) (and (eq (cursord-state ws) '%s) (> (hash-table-count (cursord-workspace-turns ws)) 0)))`, w.Path(name)+"/", want)
		}
		ask("failed", "error", `{"fake":"exit","code":3}`)
		ask("answered", "idle", world.Streams("Here."), world.Done)
		ask("changed", "review", append(world.Edits("1", "f", "one\n", "two\n"), world.Done)...)
		require.Contains(t, e.messages(), "cursord: done; 1 hunk in 1 file: M-x cursord-review")
		e.eval(`(setq cursord-tell-turn-end nil)`)
		seen := map[any]bool{}
		for range 3 {
			e.eval(`(cl-letf (((symbol-function 'cursord-review) (lambda () (interactive) (pop-to-buffer (current-buffer))))) (cursord-next-attention) nil)`)
			seen[e.eval(`(file-name-nondirectory (directory-file-name (cursord-workspace-root cursord-buffer-workspace)))`)] = true
		}
		require.Equal(t, map[any]bool{"failed": true, "answered": true, "changed": true}, seen)
		// Failed turns and pending hunks go on waiting; the answer counts as read.
		for range 3 {
			e.eval(`(cl-letf (((symbol-function 'cursord-review) (lambda () (interactive) (pop-to-buffer (current-buffer))))) (cursord-next-attention) nil)`)
			require.NotEqual(t, "answered", e.eval(`(file-name-nondirectory (directory-file-name (cursord-workspace-root cursord-buffer-workspace)))`))
		}
	})
}

// TestEmacsGivesUp uses a program that ends at once. Emacs stops starting it after some failures; the next command starts it again.
func TestEmacsGivesUp(t *testing.T) {
	t.Parallel()
	givesUp(t, `(setq cursord--retry-first 0.001)`)
}

// TestEmacsGivesUpOnEarlyEnds has the program end before the library of JSON-RPC asks to hear of it.
func TestEmacsGivesUpOnEarlyEnds(t *testing.T) {
	t.Parallel()
	givesUp(t, `(progn (setq cursord--retry-first 0.001)
  (define-advice cursord--make-process (:filter-return (proc) slow)
    (while (and (equal (file-name-nondirectory cursord-program) "broken") (process-live-p proc))
      (accept-process-output proc 0.01))
    proc))`)
}

func givesUp(t *testing.T, setup string) {
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Makes("git init -q") // else Emacs asks the daemon for a workspace around the folder, which is one more start
		w.Start()
		w.Put("../bin/broken", "#!/bin/sh\necho x >>"+w.Path("../starts")+"\necho it is broken >&2\nexit 7\n")
		require.NoError(t, os.Chmod(w.Path("../bin/broken"), 0o755))
		e := startEmacs(w, t, bin, setup)
		e.eval(`(progn (setq cursord-program %q) (cursord-workspace-open) nil)`, w.Path("../bin/broken"))
		e.until("the message", `(with-current-buffer (messages-buffer) (goto-char (point-min)) (re-search-forward "ends again and again; see M-x cursord-doctor\n  it is broken" nil t))`)
		require.Equal(t, 9, strings.Count(w.Get("../starts"), "x"))
		require.Equal(t, "off", e.eval(`(cursord-state (car cursord-workspaces))`))
		e.eval(`(progn (setq cursord-program "cursord") (cursord-workspace-open) nil)`)
		e.until("the subscription", `(cursord-workspace-ready (car cursord-workspaces))`)
		require.Equal(t, "idle", e.eval(`(cursord-state (car cursord-workspaces))`))
	})
}

// TestEmacsOvertakenAnswer takes a page that is older than the shown text: the text stays.
func TestEmacsOvertakenAnswer(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("I begin. "), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams("I end."), world.Done)
		w.Start()
		w.Trusts()
		e := startEmacs(w, t, bin, "")
		e.eval(`(progn (cursord) (setq pages nil)
			(advice-add 'cursord--take-page :before (lambda (_ page) (push page pages)))
			(cursord-send (cursord-workspace-open) "go on") nil)`)
		e.untilBuffer(chatName, "\n## You\n\ngo on\n\n## Cursor  working\n\nI begin. \n")
		e.eval(`(progn (setq pages nil) (cursord-transcript-load cursord-transcript) nil)`)
		e.until("a page", `pages`)
		w.Put("../go", "")
		e.untilBuffer(chatName, "\n## You\n\ngo on\n\n## Cursor\n\nI begin. I end.\n")
		e.eval(`(progn (cursord--take-page cursord-transcript (car pages)) nil)`)
		require.Equal(t, "\n## You\n\ngo on\n\n## Cursor\n\nI begin. I end.\n", e.buffer(chatName))
		e.quiet()
	})
}
