//go:build unix

package emacs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsForkAndSearch forks a session of the list and the chat's own, and goes to a place that a search has found.
func TestEmacsForkAndSearch(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		w.Trusts()
		w.Plays(world.Streams("The Bär loses a wakeup."), world.Done)
		c := w.OpensWithoutTrust()
		first := c.Turn(world.Obj{"prompt": "why does it hang"})
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (cursord-sessions) (goto-char (point-min)) (search-forward "why does it hang") (call-interactively #'cursord-sessions-fork) nil)`)
		e.until("the fork in the chat", `(let ((ws (cursord-workspace-find))) (and ws (cursord-workspace-current ws) (not (equal "`+first.SessionID+`" (cursord-workspace-current ws)))))`)
		e.eval(`(progn (cursord-fork-session) nil)`)
		e.eval(`(progn (cursord-sessions) nil)`)
		e.until("two forks", `(with-current-buffer "*cursord sessions*" (= 2 (how-many "└ why does it hang (fork" (point-min) (point-max))))`)
		require.Equal(t, []any{"", "└ ", "  └ "}, e.eval(`(with-current-buffer "*cursord sessions*" (mapcar #'cdr (cursord--session-tree (mapcar #'car tabulated-list-entries))))`))
		require.Regexp(t, `(?s)^[^└]*  why does it hang *\n[^└]*  └ why does it hang \(fork\).*\n[^└]*    └ why does it hang \(fork`, e.buffer("*cursord sessions*"))

		e.eval(`(progn (cursord-search "LOSES bär") nil)`)
		require.Equal(t, "1", e.eval(`(with-current-buffer "*cursord search*" (number-to-string (how-many "The Bär loses a wakeup" (point-min) (point-max))))`))
		require.Equal(t, "Bär", e.eval(`(with-current-buffer "*cursord search*" (goto-char (point-min))
			(let ((m (text-property-search-forward 'face 'match t))) (buffer-substring-no-properties (prop-match-beginning m) (prop-match-end m))))`))
		e.eval(`(with-current-buffer "*cursord search*" (goto-char (point-max)) (forward-line -1) (call-interactively #'cursord-sessions-go) nil)`)
		e.until("the chat of the first session", `(equal "`+first.SessionID+`" (cursord-workspace-current (cursord-workspace-find)))`)
		require.Contains(t, e.eval(`(condition-case err (progn (cursord-search "…") "no error") (user-error (cadr err)))`), "no word")
	})
}

// TestEmacsForkAtATurn forks by keys in a terminal: in the chat at the turn at point, of a search at the turn that it has found, and with
// C-u in a copy.
func TestEmacsForkAtATurn(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		c := w.Opens()
		w.Plays(world.Streams("The lock is held."), world.Done)
		first := c.Turn(world.Obj{"prompt": "why does it hang"})
		w.Plays(world.Streams("It is mended."), world.Done)
		c.Turn(world.Obj{"prompt": "then mend it", "sessionId": first.SessionID})
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		tm.Types("C-c", "a", "c")
		untilScreen(tm, e, `It is mended\.`)
		tm.Types("M-<", "n", "?")
		untilScreen(tm, e, ` f fork up to here\b`)
		tm.Types("C-g", "F")
		untilScreen(tm, e, `(?m)^cursord: the next prompt goes to the fork "why does it hang \(fork\)"`)
		forked := func(isolation string) {
			e.until("a fork in the chat", `(let ((session (cursord-session (cursord-workspace-find))))
				(and (equal "`+first.SessionID+`" (plist-get (plist-get session :forkedFrom) :sessionId))
				     (equal %q (plist-get session :isolation)) (= 1 (plist-get session :turns))))`, isolation)
		}
		forked("none")
		require.NotContains(t, e.buffer(chatName), "mend")

		tm.Types("C-c", "a", "/", "lock", "Enter")
		untilScreen(tm, e, `(?m)text +why does it hang +The lock is held`)
		tm.Types("C-u", "F")
		untilScreen(tm, e, `(?m)^Isolation of the fork:$`)
		tm.Types("Tab", "Tab")
		untilScreen(tm, e, `(?m)copy +in a copy of the project`)
		tm.Types("copy", "Enter")
		forked("copy")
		untilScreen(tm, e, ` in a copy `)
		e.quiet()
	})
}

// TestEmacsSearchWhileTyping types words in a terminal: the list follows the beginnings of words, also backwards; C-n and C-o choose and show a
// place; RET goes there in the list, where SPC previews; C-g brings back windows and list as they were.
func TestEmacsSearchWhileTyping(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "a file of mine\n")
		w.Start()
		c := w.Opens()
		w.Plays(world.Streams("Der Bär wakes."), world.Done)
		c.Turn(world.Obj{"prompt": "who is awake"})
		w.Plays(world.Streams("A wakeup is lost."), world.Done)
		c.Turn(world.Obj{"prompt": "why does it hang"})
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		rows := func(what string, rows ...string) {
			t.Helper()
			e.poll(what, func() bool {
				return assert.ObjectsAreEqual(rows, strings.Split(e.eval(`(with-current-buffer "*cursord search*"
					(mapconcat (lambda (entry) (substring-no-properties (aref (cadr entry) 3))) tabulated-list-entries "/"))`).(string), "/"))
			})
		}
		tm.Types("C-c", "a", "/")
		untilScreen(tm, e, `(?m)^ Type words: C-n and C-p choose a place, C-o shows one, RET goes to the list\.$`)
		tm.Types("w", "a", "k")
		rows("the places of wak", "A wakeup is lost.", "Der Bär wakes.")
		untilScreen(tm, e, `(?ms)^a file of mine$.*A wakeup is lost\.\n.*Der Bär wakes\..*^Search sessions: wak$`)
		tm.Types("e", "s")
		rows("the one of wakes", "Der Bär wakes.")
		tm.Types("BSpace", "BSpace", "Space", "n", "o", "n", "e")
		untilScreen(tm, e, `(?m)^ No place has these words\.$`)
		tm.Types("C-a", "C-k", "\"")
		untilScreen(tm, e, `(?m)^ .*no word`)
		tm.Types("BSpace", "w", "a", "k")
		rows("the places of wak again", "A wakeup is lost.", "Der Bär wakes.")
		tm.Types("C-n", "C-n", "C-o")
		untilScreen(tm, e, `(?s)who is awake\n.*Der Bär wakes\.\n.*Search sessions: wak$`)
		tm.Types("C-p", "C-n", "Enter")
		e.until("the list, at the chosen place", `(and (eq major-mode 'cursord-search-mode) (not (active-minibuffer-window))
			(string-search "Der Bär wakes" (buffer-substring (line-beginning-position) (line-end-position))))`)
		tm.Types("C-p", "Space")
		untilScreen(tm, e, `(?s)why does it hang\n.*A wakeup is lost\.\n`)

		// The former list and the windows come back.
		tm.Types("C-x", "0")
		e.until("another buffer", `(not (derived-mode-p 'cursord-search-mode))`)
		tm.Types("C-x", "1", "C-c", "a", "/", "B", "ä", "r")
		rows("the place of Bär", "Der Bär wakes.")
		quits := func() { // a C-g while Emacs still ends a request of emacsclient ends that alone
			var typed time.Time
			tm.Poll("the end of the search", func() bool {
				if time.Since(typed) > 2*time.Second { // two at once are an emergency for Emacs
					tm.Types("C-g")
					typed = time.Now()
				}
				return !strings.Contains(tm.Screen(), "Search sessions:")
			})
		}
		quits()
		e.until("the windows from before", `(and (one-window-p) (not (active-minibuffer-window)))`)
		rows("the former places", "A wakeup is lost.", "Der Bär wakes.")
		e.eval(`(progn (kill-buffer "*cursord search*") nil)`)
		tm.Types("C-c", "a", "/", "x")
		untilScreen(tm, e, `(?m)^Search sessions: x`)
		quits()
		e.until("no list", `(and (one-window-p) (not (get-buffer "*cursord search*")))`)
		tm.Types("C-c", "a", "/", "Enter")
		untilScreen(tm, e, `(?m)^There is nothing to search for$`)
		// M-p has what was searched for.
		tm.Types("C-c", "a", "/", "M-p", "Enter")
		rows("the places of the history", "A wakeup is lost.", "Der Bär wakes.")
		e.quiet()
	})
}

// TestEmacsGoesToWhatWasFound looks at a place far above the end of its session, which is where the preview and the chat were.
func TestEmacsGoesToWhatWasFound(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		c := w.Opens()
		w.Plays(world.Streams("The Bär loses a wakeup."), world.Done)
		first := c.Turn(world.Obj{"prompt": "why does it hang"})
		w.Plays(world.Streams(strings.Repeat("more\n\n", 200)), world.Done)
		for range 60 {
			c.Turn(world.Obj{"prompt": "tell me more", "sessionId": first.SessionID})
		}
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		tm.Types("C-c", "a", "/", "wakeup")
		untilScreen(tm, e, `text +why does it hang +The Bär loses a wakeup\.`)
		tm.Types("C-o")
		untilScreen(tm, e, `(?m)^The Bär loses a wakeup\.$`)
		tm.Types("Enter", "Enter")
		untilScreen(tm, e, `(?m)^The Bär loses a wakeup\.$`)
		e.until("the place", `(and (eq major-mode 'cursord-chat-mode) (looking-at-p "The Bär"))`)
		tm.Types("C-c", "a", "/", "hang", "Enter")
		e.until("the list, at the prompt", `(and (eq major-mode 'cursord-search-mode) (goto-char (point-min)) (search-forward " prompt" nil t)
			(progn (set-window-point nil (point)) t))`)
		tm.Types("Space")
		e.until("the prompt", `(with-current-buffer "*cursord preview*" (looking-at-p "## You\n\nwhy does it hang"))`)
		untilScreen(tm, e, `(?m)^why does it hang$`)
		e.quiet()
	})
}

// TestEmacsPreviewStaysAtThePlace: the first key for a place that was found shows it, the next ones scroll on to the end of the session.
func TestEmacsPreviewStaysAtThePlace(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		c := w.Opens()
		for i, answers := range [][]string{{"The beginning.", "A guide."}, {"The beginning.", "A cliff.\n\n" + strings.Repeat("more\n\n", 6) + "The very end."}} {
			session := ""
			for n, answer := range answers {
				w.Plays(world.Streams(answer), world.Done)
				ask := world.Obj{"prompt": []string{"first", "second"}[i]}
				if n > 0 {
					ask["sessionId"] = session
				}
				session = c.Turn(ask).SessionID
			}
		}
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		tm.Types("C-c", "a", "/", "guide")
		untilScreen(tm, e, `(?s)A guide\..*Search sessions: guide$`)
		tm.Types("C-n", "C-o")
		untilScreen(tm, e, `(?m)^A guide\.$`)
		atPlace := func() {
			t.Helper()
			e.until("the place", `(with-selected-window (get-buffer-window "*cursord preview*") (looking-at-p "A guide"))`)
		}
		tm.Types("Enter")
		e.until("the list", `(and (eq major-mode 'cursord-search-mode) (not (active-minibuffer-window)))`)
		tm.Types("Space")
		atPlace()
		tm.Types("Space")
		untilScreen(tm, e, `(?m)^cursord: this is the end of the session$`)
		atPlace()
		tm.Types("C-l", "Space") // another command was between: the place again
		e.until("the first of two", `(eq last-command 'cursord-sessions-preview)`)
		atPlace()

		tm.Types("C-c", "a", "/", "cliff", "Enter")
		untilScreen(tm, e, `(?m)text +second +A cliff`)
		tm.Types("Space")
		untilScreen(tm, e, `(?m)^A cliff\.$`)
		tm.Types("Space")
		untilScreen(tm, e, `(?m)^The very end\.$`)
		e.quiet()
	})
}
