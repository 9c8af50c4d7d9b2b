//go:build unix

package emacs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// emacsWatch measures how late Emacs runs a timer, and how often it is 50 ms late or more. It also measures how much of that
// time Emacs itself worked; for the rest, others had the processor.
const emacsWatch = `(progn
  (defvar watch-last nil)
  (defvar watch-used nil)
  (defvar watch-own 0)
  (defvar watch-own-blocks 0)
  (defvar watch-worst 0)
  (defvar watch-gc 0)
  (defvar watch-gc-last 0)
  (defvar watch-own-gc 0)
  (defvar watch-blocks 0)
  (defvar watch-timer nil)
  (defvar watch-turn nil)
  (defun watch-tick ()
    (let* ((used (get-internal-run-time))
           (gap (* 1000 (float-time (time-subtract nil watch-last))))
           (own (* 1000 (float-time (time-subtract used watch-used)))))
      (when (> own watch-own)
        (setq watch-own own watch-own-gc (* 1000 (- gc-elapsed watch-gc-last))))
      (setq watch-last (current-time) watch-used used watch-worst (max watch-worst gap) watch-gc-last gc-elapsed)
      (when (> gap 50) (setq watch-blocks (1+ watch-blocks)))
      (when (> own 50) (setq watch-own-blocks (1+ watch-own-blocks)))))
  (defun watch-begin ()
    (setq watch-last (current-time) watch-used (get-internal-run-time) watch-worst 0 watch-blocks 0 watch-own 0 watch-own-blocks 0
          watch-gc gc-elapsed watch-gc-last gc-elapsed)
    (setq watch-timer (run-at-time 0.005 0.005 #'watch-tick)))
  (defun watch-end ()
    (watch-tick)
    (cancel-timer watch-timer)
    (format "the longest without an answer to keys: %.1f ms, over 50 ms %d times; of Emacs's own time: %.1f ms (%.1f ms of it collecting garbage), over 50 ms %d times; garbage: %.2f s in all"
            watch-worst watch-blocks watch-own watch-own-gc watch-own-blocks (- gc-elapsed watch-gc))))`

var compiling sync.Mutex

// compiledEmacs returns a folder with the package as this Emacs compiles it. It compiles once in a run of the tests.
func compiledEmacs(t *testing.T, bin string) string {
	t.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	dir := filepath.Join(world.Shared(), filepath.Base(bin))
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		return dir
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	files, err := filepath.Glob(world.Top("editors", "emacs", "*.el"))
	require.NoError(t, err)
	args := []string{"-Q", "--batch", fewCollections, "-L", dir, "-f", "batch-byte-compile"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		copied := filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(copied, text, 0o644))
		args = append(args, copied)
	}
	manual, err := os.ReadFile(world.Top("editors", "emacs", "cursord.texi"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cursord.texi"), manual, 0o644))
	out, err := exec.Command(bin, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "done"), nil, 0o644))
	return dir
}

// TestEmacsFigures measures and prints delays that people would notice. It asserts nothing about time. Its sizes are small unless
// CURSORD_EMACS_FIGURES is set.
func TestEmacsFigures(t *testing.T) {
	t.Parallel()
	deltas, history, seconds := 1000, 500, 0.2
	if os.Getenv("CURSORD_EMACS_FIGURES") != "" {
		deltas, history, seconds = 100_000, 50_000, 3
	}
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\n")
		w.Start()
		w.Trusts()
		lisp := compiledEmacs(t, bin)
		load := func(what, code string) {
			cmd := exec.Command(bin, "-Q", "--batch", "-L", lisp, "--eval", code)
			cmd.Env = emacsEnv(w, "")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s: %s", what, strings.TrimSpace(string(out)))
		}
		load("loading cursord.el", `(princ (format "%.1f ms" (* 1000 (car (benchmark-run 1 (require 'cursord))))))`)
		load("loading all but the menu", `(princ (format "%.1f ms" (* 1000 (car (benchmark-run 1 (require 'cursord) (require 'cursord-session))))))`)

		e, _ := terminalEmacs(w, t, bin, fmt.Sprintf(`(progn %s (setq cursord-tell-turn-end nil))`, emacsWatch))
		e.eval(`(progn (find-file %q) (delete-other-windows) (cursord-show-chat (cursord-workspace-open)) nil)`, w.Path("f"))
		idle := `(and (cursord-turn-ended-p (gethash watch-turn (cursord-workspace-turns (cursord-workspace-find)))) (with-current-buffer %q (save-excursion (goto-char (point-max)) (re-search-backward "^the end" (max 1 (- (point-max) 20)) t))))`
		play := func(what string, n int, lines []string) {
			t.Helper()
			w.Plays(lines...)
			e.eval(`(progn (watch-begin) (setq watch-turn (plist-get (plist-get (cursord-send (cursord-workspace-open) "stream") :turn) :id)) nil)`)
			began := time.Now()
			e.untilIn(5*time.Minute, "the end of "+what, idle, chatName)
			t.Logf("%s, %d in %.1f s: %s", what, n, time.Since(began).Seconds(), e.eval(`(watch-end)`))
		}
		stream := func(what string, n int, word func(i int) string, pause string) {
			t.Helper()
			lines := make([]string, 0, n+1)
			for i := range n {
				lines = append(lines, world.Streams(word(i)))
				if pause != "" && i%10 == 9 {
					lines = append(lines, pause)
				}
			}
			play(what, n, append(lines, world.Streams("\nthe end"), world.Done))
		}
		e.eval(`(progn (watch-begin) (setq watch-idle (time-add nil %f)) nil)`, seconds)
		e.untilIn(world.Patience, "nothing", `(time-less-p watch-idle nil)`)
		t.Logf("nothing, for %.1f s: %s", seconds, e.eval(`(watch-end)`))
		prose := func(i int) string {
			if i%12 == 11 {
				return fmt.Sprintf("word%d\n", i)
			}
			return fmt.Sprintf("word%d ", i)
		}
		stream("prose at 5,000 a second", deltas, prose, `{"fake":"sleep","ms":2}`)
		stream("prose as fast as it comes", deltas, prose, "")
		code := func(i int) string {
			if i%50 == 0 {
				return "\n```elisp\n"
			}
			if i%50 == 49 {
				return "```\n"
			}
			return fmt.Sprintf("(defun name-%d (x) \"A string.\" (list x %d))\n", i, i)
		}
		stream("code", deltas/10, code, "")
		stream("one long line", deltas/10, func(i int) string { return fmt.Sprintf("word%d ", i) }, "")
		stream("one message of many lines", history/10, func(i int) string { return fmt.Sprintf("a line of some words, number %d\n", i) }, "")
		e.eval(`(progn (cursord-talk-with (cursord-workspace-find) nil) nil)`)
		output := strings.Repeat("a line that a command has printed, with `code`\n", 60)
		call := func(i int) string {
			return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":"%[1]d","tool_call":{"shellToolCall":{"args":{"command":"make %[1]d"}}}}
{"type":"tool_call","subtype":"completed","call_id":"%[1]d","tool_call":{"shellToolCall":{"args":{"command":"make %[1]d"},"result":{"success":{"command":"make","exitCode":0,"stdout":%[2]q,"stderr":""}}}}}
`, i, output) + world.Streams(strings.Repeat(fmt.Sprintf("a line of some words, number %d\n", i), 38))
		}
		var calls []string
		for i := range history / 100 {
			calls = append(calls, call(i))
		}
		play("a transcript of many calls and messages", history, append(calls, world.Streams("\nthe end"), world.Done))
		// The text that was read for a missing piece comes after the end.
		e.until("all of its lines", `(with-current-buffer %q (> (count-lines (point-min) (point-max)) %d))`, chatName, history)
		stream("prose at 5,000 a second behind it", deltas/10, prose, `{"fake":"sleep","ms":2}`)
		e.eval(`(progn (watch-begin) (cursord-resync (cursord-workspace-find)) nil)`)
		e.untilIn(5*time.Minute, "the resync", idle, chatName)
		t.Logf("reading its latest page again: %s", e.eval(`(watch-end)`))

		// A shown file changes in many places, and is rejected.
		lines, places := 2*history, history/50
		change := map[int]string{}
		for i := range places {
			change[(i+1)*lines/places-7] = fmt.Sprintf("changed %d\n", i)
		}
		before, after := world.Numbered(lines, nil), world.Numbered(lines, change)
		w.Put("long", before)
		e.eval(`(progn (cursord-mode) (find-file %q) nil)`, w.Path("long"))
		w.Plays(append(world.Edits("1", "long", before, after), world.Done)...)
		e.eval(`(progn (watch-begin) (cursord-send (cursord-workspace-find) "change it") nil)`)
		e.untilIn(5*time.Minute, "the marks", `(= %d (length cursord--marks))`, places)
		t.Logf("a file of %d lines that changed in %d places: %s", lines, places, e.eval(`(watch-end)`))
		e.eval(`(progn (watch-begin) (cursord-reject-file) nil)`)
		e.untilIn(5*time.Minute, "no marks", `(and (null cursord--marks) (verify-visited-file-modtime))`)
		t.Logf("rejecting that: %s", e.eval(`(watch-end)`))
		require.Equal(t, before, w.Get("long"))
		e.quiet()
	})
}
