//go:build unix

package emacs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// emacsKeeps makes an Emacs collect its events, as a list of names and ids.
const emacsKeeps = `(progn
  (defvar told nil)
  (add-hook 'cursord-event-functions
            (lambda (event _ws object before)
              (unless (memq event '(update session delta))
                (push (format "%s%s" event (pcase event
                                             ('turn (concat " " (plist-get object :status)))
                                             ('item (format " %s %s" (plist-get object :kind) (plist-get object :status)))
                                             ('diff (format " %s %s%s" (plist-get object :path) (length (plist-get object :hunks))
                                                            (if before "" " new")))
                                             (_ "")))
                      told)))))`

// TestEmacsFollows collects the events of a turn and of decisions elsewhere. Each comes once, although daemon and program are killed.
func TestEmacsFollows(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent\n", 15: "agent too\n"})
		w.Put("f", before)
		w.Plays(append(append([]string{world.Streams("I begin ünd 😀. ")}, world.Edits("1", "f", before, after)...),
			`{"fake":"wait","path":"{{cwd}}/../go"}`, world.Streams("I end."), world.Done)...)
		w.Start()
		c := w.Opens()
		e := startEmacs(w, t, bin, emacsKeeps)
		require.Equal(t, "idle", e.eval(`(cursord-state (cursord-workspace-open))`))
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		turn := c.Asks(nil)
		e.until("the hunks", `(equal (cursord-pending (cursord-workspace-find)) '(2 . 1))`)
		require.Equal(t, "working", e.eval(`(cursord-state (cursord-workspace-find))`))
		require.Equal(t, " cu[working 2]", e.eval(`(cursord-lighter)`))

		// The daemon dies in the middle of the turn, and then the program that leads to it.
		w.Kill()
		t.Cleanup(func() { w.Cursord("stop", "--force") })
		e.until("the end of the turn", `(equal (cursord-state (cursord-workspace-find)) 'review)`)
		e.eval(`(progn (setq told nil) (kill-process (jsonrpc--process (cursord-connection-to nil))) nil)`)
		c = w.Joins()
		diff := c.Diffs()["f"]
		c.Decides("diff/accept", world.Obj{"hunks": []string{diff.Hunks[0].ID}})
		e.until("the decision, by a connection of its own", `(and (equal (cursord-pending (cursord-workspace-find)) '(1 . 1)) (member "ready" told))`)
		require.Equal(t, []any{"down", "ready", "diff f 1"}, e.eval(`(vconcat (reverse told))`))

		// Requests are answered in the order of the wire, and their errors are for people.
		require.Equal(t, "no such turn none\n  list a session's turns: cursord show SESSION", e.eval(`(condition-case err (cursord-call (cursord-workspace-find) :turn/wait '(:turnId "none")) (user-error (cadr err)))`))
		status := e.eval(`(plist-get (plist-get (cursord-call (cursord-workspace-find) :turn/wait '(:turnId %q)) :turn) :status)`, turn.ID)
		require.Equal(t, "interrupted", status)
		e.quiet()
	})
}

// TestEmacsErrorsStayWhereTheyAre makes receivers fail: the connection and the other receivers go on.
func TestEmacsErrorsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("text"), world.Done)
		w.Start()
		c := w.Opens()
		e := startEmacs(w, t, bin, `(progn `+emacsKeeps+`
			(add-hook 'cursord-event-functions (lambda (event &rest _) (when (eq event 'turn) (error "A view is broken"))) -90))`)
		e.eval(`(progn (cursord-workspace-open) nil)`)
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		e.eval(`(progn (cursord-request (cursord-workspace-find) :workspace/list nil :then (lambda (_) (car 1))) nil)`)
		c.Turn(nil)
		e.until("the end", `(member "turn completed" told)`)
		require.Contains(t, e.messages(), "A view is broken")
		require.Contains(t, e.buffer("*cursord-log*"), "Wrong type argument: listp, 1")
		require.Equal(t, "idle", e.eval(`(cursord-state (cursord-workspace-find))`))
	})
}

// TestEmacsClosesWhatIsOpen kills buffers: the last one of a file closes it, and a new connection is not told of files that it does
// not have open.
func TestEmacsClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	for what, kills := range map[string]string{
		"two buffers of a file": `(with-current-buffer (generate-new-buffer "other")
			(insert-file-contents (expand-file-name "f" (cursord-workspace-root (car cursord-workspaces))))
			(set-visited-file-name (expand-file-name "f" (cursord-workspace-root (car cursord-workspaces))) t) (set-buffer-modified-p nil)
			(cursord--tell-holds (cursord-document))
			(kill-buffer) (kill-buffer "f"))`,
		"a connection that was just lost": `(progn (delete-process (jsonrpc--process (cursord-connection-to nil)))
			(cursord-workspace-open) (kill-buffer "f"))`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", "one\n")
				w.Start()
				e := emacsOpens(w, t, bin, "", "f")
				e.until("the daemon knows it", `(and (cursord-document-named (cursord-document (get-buffer "f"))) t)`)
				e.eval(`(progn %s (cursord-call (cursord-workspace-find) :workspace/list nil) nil)`, kills)
				e.until("the subscription", `(and (cursord-workspace-ready (cursord-workspace-find)) (null cursord--queue) (null cursord--taken))`)
				require.NotContains(t, e.messages(), "did nothing")
				e.quiet()
			})
		})
	}
}

// TestEmacsDoctor reports a missing program, and then a whole installation.
func TestEmacsDoctor(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		e := startEmacs(w, t, bin, `(setq cursord-program "no-such-cursord")`)
		require.Contains(t, e.eval(`(condition-case err (cursord-workspace-open) (user-error (cadr err)))`),
			"There is no program no-such-cursord: install cursord")
		e.eval(`(progn (cursord-doctor) nil)`)
		require.Contains(t, e.buffer("*cursord doctor*"), "✗ program       there is no \"no-such-cursord\": install cursord, or set cursord-program")
		e.eval(`(progn (setq cursord-program "cursord") (cursord-workspace-open) (cursord-doctor) nil)`)
		text := e.buffer("*cursord doctor*")
		require.Regexp(t, `(?m)^✓ program       /.*/cursord, version `, text)
		require.Regexp(t, `(?m)^✓ daemon        version .*, process \d+, `, text)
		require.Regexp(t, `(?m)^✓ agent         ready`, text)
		require.Regexp(t, `(?m)^✗ workspace     .*; not trusted, see M-x cursord-trust$`, text)
		require.Regexp(t, `(?m)^✓ keys          none; for example`, text)
		e.quiet()
	})
}
