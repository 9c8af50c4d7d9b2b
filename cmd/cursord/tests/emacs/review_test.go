//go:build unix

package emacs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

const emacsReview = "*cursord-review: ws*"

// emacsOpens starts an Emacs that is subscribed to the workspace, with files of it open; the last one is selected. Each
// question is answered with yes.
func emacsOpens(w *world.World, t *testing.T, bin, init string, files ...string) *emacs {
	t.Helper()
	if init == "" {
		init = "nil"
	}
	e := startEmacs(w, t, bin, `(progn (cursord-mode 1) (fset 'y-or-n-p (lambda (prompt) (setq asked prompt))) `+init+`)`)
	e.eval(`(progn (cursord-workspace-open) nil)`)
	e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
	for _, f := range files {
		e.find(f)
	}
	return e
}

// find visits a file, and waits until the daemon knows of that.
func (e *emacs) find(path string) {
	e.t.Helper()
	e.eval(`(progn (find-file %q) (when-let* ((ws (cursord-workspace-find)) ((cursord-workspace-ready ws))) (cursord-call ws :diff/list nil)) nil)`,
		e.w.Path(path))
}

// text is the text of a file's buffer.
func (e *emacs) text(path string) string {
	e.t.Helper()
	return e.eval(`(with-current-buffer (find-buffer-visiting %q) (save-restriction (widen) (buffer-substring-no-properties 1 (point-max))))`, e.w.Path(path)).(string)
}

func (e *emacs) modified(path string) bool {
	e.t.Helper()
	return e.eval(`(if (buffer-modified-p (find-buffer-visiting %q)) t :json-false)`, e.w.Path(path)).(bool)
}

func (e *emacs) untilText(path, want string) {
	e.t.Helper()
	var have string
	defer func() {
		if e.t.Failed() {
			e.t.Logf("%s is\n%s", path, have)
		}
	}()
	e.poll("the text of "+path, func() bool { have = e.text(path); return have == want })
}

// rows are the lines, counted from 1, at which the hunks of a file's buffer begin.
func (e *emacs) rows(path string) string {
	e.t.Helper()
	rows := e.eval(`(with-current-buffer (find-buffer-visiting %q) (vconcat (mapcar (lambda (place) (line-number-at-pos (cadr place) t)) (cursord-hunk-places))))`, e.w.Path(path))
	return fmt.Sprint(rows)
}

func (e *emacs) untilRows(path string, want ...int) {
	e.t.Helper()
	var have string
	defer func() {
		if e.t.Failed() {
			e.t.Logf("hunks are at %s, not %v", have, want)
		}
	}()
	e.poll("hunks at their lines", func() bool { have = e.rows(path); return have == fmt.Sprint(want) })
}

// pending waits until Emacs has this number of hunks in a file.
func (e *emacs) pending(path string, hunks int) {
	e.t.Helper()
	e.until(fmt.Sprintf("%d hunks of %s", hunks, path), `(= %d (length (plist-get (gethash %q (cursord-workspace-diffs (cursord-workspace-find))) :hunks)))`, hunks, path)
}

// agree requires that the buffer, the file and the daemon's list are the same.
func (e *emacs) agree(c *world.Editor, path, want string, hunks int) {
	e.t.Helper()
	e.untilText(path, want)
	e.poll("the disk", func() bool { return e.w.Get(path) == want })
	e.pending(path, hunks)
	e.poll("an unmodified buffer", func() bool { return !e.modified(path) })
	e.poll("the daemon's list", func() bool { // which learns of a save from the disk or from Emacs, whichever is first
		d := c.Diffs()[path]
		return d == nil && hunks == 0 || d != nil && len(d.Hunks) == hunks
	})
}

// plays has the agent play its script to the end, and returns the session.
func (e *emacs) plays(c *world.Editor) string {
	e.t.Helper()
	turn := c.Asks(nil)
	ended := fmt.Sprintf(`(and (cursord-turn-ended-p (gethash %q (cursord-workspace-turns (cursord-workspace-find)))) t)`, turn.ID)
	e.pollFor(4*world.Patience, "the end of the turn", func() bool { return e.eval(ended) == true })
	return turn.SessionID
}

// goes puts point at the beginning of a line.
func (e *emacs) goes(line int) {
	e.t.Helper()
	e.eval(`(progn (goto-char (point-min)) (forward-line %d) nil)`, line-1)
}

// command runs a command as M-x does.
func (e *emacs) command(name string) {
	e.t.Helper()
	e.eval(`(progn (call-interactively '%s) nil)`, name)
}

// TestEmacsMainJob reviews an agent's changes in the buffers of files. At each step it compares windows, files and daemon.
func TestEmacsMainJob(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		five, fifteen := "agent 5\n", "agent 15a\nagent 15b\n"
		after := world.Numbered(30, map[int]string{5: five, 15: fifteen})
		w.PutAll(world.Tree{"f": before, "g": "one\ntwo\nthree\n"})
		w.Plays(append(world.Edits("1", "f", before, after), world.Edits("2", "g", "one\ntwo\nthree\n", "one\n2\nthree\n")...)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.goes(4)
		e.plays(c)
		e.agree(c, "f", after, 2)
		e.untilRows("f", 5, 15)
		require.Equal(t, "f 4", e.eval(`(format "%s %s" (buffer-name) (line-number-at-pos))`))
		require.Equal(t, []any{"-line 5\n+", "-line 15\n+"}, e.eval(`(vconcat (mapcar (lambda (o) (string-remove-suffix "|" (substring-no-properties (overlay-get o 'before-string)))) cursord--marks))`))

		// Accepting leaves the text, and goes to the next hunk.
		e.goes(5)
		e.command("cursord-accept-hunk")
		e.agree(c, "f", after, 1)
		e.until("the next hunk", `(= 15 (line-number-at-pos))`)
		// Rejecting changes the file, and the buffer with it.
		e.keys("C-c = r")
		e.agree(c, "f", world.Numbered(30, map[int]string{5: five}), 0)
		e.command("cursord-undo")
		e.agree(c, "f", after, 1)
		e.command("cursord-redo")
		e.agree(c, "f", world.Numbered(30, map[int]string{5: five}), 0)
		e.command("cursord-undo")
		e.agree(c, "f", after, 1)
		// A region takes the lines in it.
		e.eval(`(progn (transient-mark-mode 1) (goto-char (point-min)) (forward-line 15) (push-mark (line-end-position) t t) (cursord-reject-hunk) nil)`)
		e.agree(c, "f", world.Numbered(30, map[int]string{5: five, 15: "agent 15a\n"}), 1)
		e.command("cursord-undo")
		e.agree(c, "f", after, 1)

		// The next file.
		e.command("cursord-next-hunk")
		require.Equal(t, "g 2", e.eval(`(format "%s %s" (buffer-name) (line-number-at-pos))`))
		e.command("cursord-previous-hunk")
		require.Equal(t, "f 15", e.eval(`(format "%s %s" (buffer-name) (line-number-at-pos))`))
		e.command("cursord-reject-all")
		require.Equal(t, "Reject all 2 hunks in 2 files? ", e.eval(`asked`))
		e.agree(c, "f", world.Numbered(30, map[int]string{5: five}), 0)
		e.agree(c, "g", "one\ntwo\nthree\n", 0)
		e.command("cursord-undo")
		e.agree(c, "f", after, 1)
		e.agree(c, "g", "one\n2\nthree\n", 1)
		e.poll("which decision it was", func() bool {
			return strings.Contains(e.messages(), "undone: the reject of 2 hunks; 2 hunks left in 2 files\n")
		})
		e.command("cursord-accept-all")
		e.agree(c, "f", after, 0)
		e.agree(c, "g", "one\n2\nthree\n", 0)
		e.untilRows("f")
		require.Contains(t, e.messages(), "cursord: accepted 2 hunks; nothing left to review")
		e.quiet()
	})
}

// TestEmacsUndoBringsTheHunkBack rejects in a buffer without unsaved changes, and takes that back by "undo".
func TestEmacsUndoBringsTheHunkBack(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: ""})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.plays(c)
		e.agree(c, "f", after, 2)
		e.goes(5)
		e.command("cursord-reject-hunk")
		e.agree(c, "f", world.Numbered(30, map[int]string{15: ""}), 1)
		e.keys("C-/")
		e.agree(c, "f", after, 2)

		// Another decision lies in between, and stays.
		e.goes(5)
		e.command("cursord-reject-hunk")
		e.agree(c, "f", world.Numbered(30, map[int]string{15: ""}), 1)
		c.Decides("diff/accept", world.Obj{"all": true})
		e.pending("f", 0)
		e.keys("C-/")
		e.untilText("f", after)
		e.pending("f", 1)
		require.Equal(t, world.Numbered(30, map[int]string{15: ""}), w.Get("f"))
		e.command("save-buffer")
		e.agree(c, "f", after, 1)
		e.quiet()
	})
}

// TestEmacsUnsavedText decides in a buffer with unsaved changes above, below and inside of hunks. Each reject is an edit of the
// buffer and one step for undo, and the file stays until the buffer is saved.
func TestEmacsUnsavedText(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.plays(c)
		e.agree(c, "f", after, 3)
		e.untilRows("f", 5, 15, 26)

		e.goes(1)
		e.keys("mine SPC above RET")
		e.untilRows("f", 6, 16, 27)
		e.goes(17)
		e.keys("inside RET")
		e.eval(`(progn (goto-char (point-max)) nil)`)
		e.keys("at SPC the SPC end RET")
		typed := "mine above\n" + strings.Replace(after, "agent 15a\n", "agent 15a\ninside\n", 1) + "at the end\n"
		e.untilText("f", typed)
		e.pending("f", 4)
		e.untilRows("f", 6, 16, 18, 28)

		e.goes(6)
		e.eval(`(progn (setq at-line-20 (copy-marker (save-excursion (goto-char (point-min)) (search-forward "line 20") (match-beginning 0)))) nil)`)
		e.command("cursord-reject-hunk")
		want := strings.Replace(typed, "agent 5\n", "line 5\n", 1)
		e.untilText("f", want)
		e.pending("f", 3)
		require.Equal(t, "line 20", e.eval(`(buffer-substring-no-properties at-line-20 (+ 7 at-line-20))`))
		require.Equal(t, after, w.Get("f"), "nothing is written")
		require.True(t, e.modified("f"))
		e.keys("C-/")
		e.untilText("f", typed)
		e.pending("f", 4)
		e.eval(`(progn (undo-redo) nil)`)
		e.untilText("f", want)
		e.pending("f", 3)
		e.command("cursord-undo")
		e.untilText("f", typed)
		e.pending("f", 4)
		e.command("cursord-redo")
		e.untilText("f", want)
		e.pending("f", 3)

		// A decision right after typing, before the text was reported.
		e.eval(`(progn (goto-char (point-min)) (insert "one more\n") (forward-line 15) (cursord-reject-hunk) nil)`)
		want = "one more\n" + strings.Replace(want, "agent 15a\n", "line 15\n", 1)
		e.untilText("f", want)
		e.pending("f", 2)
		e.command("save-buffer")
		e.agree(c, "f", want, 2)
		e.eval(`(progn (cursord-accept-file) nil)`)
		e.agree(c, "f", want, 0)
		e.quiet()
	})
}

// TestEmacsAgentWritesWhatIsUnsaved lets the agent write a file whose buffer has unsaved changes: the agent's lines come into the
// buffer as one step for undo, and are under review there.
func TestEmacsAgentWritesWhatIsUnsaved(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n", 5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.eval(`(progn (goto-char (point-max)) (insert "mine\n") (undo-boundary) nil)`)
		e.plays(c)
		e.poll("the agent's lines", func() bool { return e.text("f") == after+"mine\n" })
		e.pending("f", 2)
		require.Equal(t, after, w.Get("f"), "the file is the agent's")
		require.Len(t, c.Diffs()["f"].Hunks, 2)
		e.eval(`(progn (with-current-buffer "f" (undo-boundary) (let ((last-command nil)) (undo))) nil)`)
		e.poll("what was typed alone", func() bool { return e.text("f") == before+"mine\n" })
		e.pending("f", 0)
		e.eval(`(progn (with-current-buffer "f" (undo-boundary) (undo-redo)) nil)`)
		e.poll("both", func() bool { return e.text("f") == after+"mine\n" })
		e.pending("f", 2)
		e.goes(3)
		e.command("cursord-reject-hunk")
		want := strings.Replace(after, "agent 3\n", "line 3\n", 1) + "mine\n"
		e.poll("the reject", func() bool { return e.text("f") == want })
		e.eval(`(progn (with-current-buffer "f" (save-buffer)) nil)`)
		e.agree(c, "f", want, 1)
		e.quiet()
	})
}

// TestEmacsConflicts lets the agent change a line that has unsaved changes in a buffer, and decides the conflict in each way.
func TestEmacsConflicts(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, command, text string
		killed              bool // the daemon is, right before
	}{
		{"mine", "cursord-reject-hunk", "mine 5\n", false}, {"theirs", "cursord-accept-hunk", "agent 5\n", false},
		{"both", "cursord-accept-both", "mine 5\nagent 5\n", false}, {"save", "save-buffer", "mine 5\n", false}, {"save after a kill", "save-buffer", "mine 5\n", true},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{5: "agent 5\n", 8: "agent 8\n"})
				w.Put("f", before)
				w.Plays(world.Edits("1", "f", before, after)...)
				w.Start()
				c := w.Opens()
				e := emacsOpens(w, t, bin, "", "f")
				e.eval(`(progn (goto-char (point-min)) (search-forward "line 5") (replace-match "mine 5") nil)`)
				e.plays(c)
				merged := strings.Replace(after, "agent 5\n", "mine 5\n", 1)
				e.poll("the agent's other line", func() bool { return e.text("f") == merged })
				e.pending("f", 2)
				e.goes(5)
				if one.killed {
					w.Kill()
				}
				e.command(one.command)
				if one.killed {
					w.ComesBack()
					c = w.Opens()
				}
				want := strings.Replace(after, "agent 5\n", one.text, 1)
				e.poll("what was decided", func() bool { return e.text("f") == want })
				e.pending("f", 1)
				e.eval(`(progn (with-current-buffer "f" (save-buffer)) nil)`)
				e.agree(c, "f", want, 1)
				if one.command == "save-buffer" { // before, the daemon that came after a kill knew of no decision
					require.Regexp(t, `cursord: saved your lines over the agent.s in 1 conflict; M-x cursord-undo brings the agent.s back\n`, e.messages())
					w.CursordOK("undo", "--workspace", w.Root)
					require.Contains(t, w.Get("f"), "agent 5\n", "what a save took away is back")
					require.Contains(t, c.Diffs()["f"].Hunks[0].Lines, "-mine 5")
					w.CursordOK("redo", "--workspace", w.Root)
					require.Equal(t, want, w.Get("f"))
				}
			})
		})
	}
}
