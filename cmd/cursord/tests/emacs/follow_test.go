//go:build unix

package emacs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsSeveralChangesAreOneStep takes back all changes of one decision by one "undo".
func TestEmacsSeveralChangesAreOneStep(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		after := world.Numbered(30, map[int]string{5: "line five\n", 15: "line fifteen\n", 25: "line twenty-five\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.plays(c)
		e.agree(c, "f", after, 3)
		e.command("cursord-reject-file")
		e.agree(c, "f", before, 0)
		e.keys("C-/")
		e.agree(c, "f", after, 3)

		// In a buffer with unsaved changes, where rejects are edits.
		e.eval(`(progn (goto-char (point-max)) (insert "mine\n") (undo-boundary) nil)`)
		e.untilRows("f", 5, 15, 25)
		e.command("cursord-reject-file")
		e.untilText("f", before+"mine\n")
		e.keys("C-/")
		e.untilText("f", after+"mine\n")
		e.pending("f", 3)
		e.quiet()
	})
}

// TestEmacsLargeFileFollows changes a file that is so large that it is compared in slices: markers stay at their text, and undo
// leads back.
func TestEmacsLargeFileFollows(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		long := strings.Repeat("wörds ", 10)
		text := func(change func(i int) string) string {
			var b strings.Builder
			for i := range 20_000 {
				if s := change(i); s != "" {
					b.WriteString(s)
				} else {
					fmt.Fprintf(&b, "%d %s\n", i, long)
				}
			}
			return b.String()
		}
		before := text(func(int) string { return "" })
		after := text(func(i int) string {
			switch {
			case i%100 == 50:
				return fmt.Sprintf("%d agent\nand more\n", i)
			case i > 7100 && i < 7140:
				return "\n" // more than are looked through at first
			}
			return ""
		})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.eval(`(progn (goto-char (point-min)) (search-forward "\n19999 ") (setq at (copy-marker (1- (point)))) (search-backward "\n9000 ") (forward-char 3) nil)`)
		e.plays(c)
		hunks := 201
		// The texts are large, so Emacs compares them by hash.
		same := func(want string, hunks int) {
			t.Helper()
			e.poll("the disk", func() bool { return w.Get("f") == want })
			e.until("the buffer to be as the disk", `(and (not (buffer-modified-p)) (verify-visited-file-modtime)
				(equal (buffer-hash) (with-temp-buffer (insert-file-contents %q) (buffer-hash))))`, w.Path("f"))
			e.pending("f", hunks)
			e.until("the marks", `(= %d (length cursord--marks))`, hunks)
			require.Equal(t, "19999 wörds", e.eval(`(buffer-substring-no-properties (- at 5) (+ at 6))`))
		}
		same(after, hunks)
		e.command("cursord-reject-file")
		same(before, 0)
		require.Equal(t, "9000 wörds", e.eval(`(buffer-substring-no-properties (line-beginning-position) (+ (line-beginning-position) 10))`))
		e.keys("C-/")
		same(after, hunks)
		e.until("no comparison", `(not (seq-find (lambda (b) (string-prefix-p " *cursord disk" (buffer-name b))) (buffer-list)))`)
		e.quiet()
	})
}

// TestEmacsRejectedFile rejects a created file: its buffer stays as it is and unmodified, for undo or to be saved.
func TestEmacsRejectedFile(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"gone": "was\nhere\n", "new": "(absent)"})
		w.Plays(world.Changing(world.Tree{"gone": "was\nhere\n", "new": "(absent)"}, world.Tree{"gone": "(absent)", "new": "brand\nnew\n"})...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "gone")
		e.plays(c)
		e.poll("what is said of the deleted one", func() bool {
			return strings.Contains(e.messages(), "cursord: gone is not on disk any more; to write it again, save its buffer\n")
		})
		require.Equal(t, "was\nhere\n", e.text("gone"))
		e.find("new")
		e.agree(c, "new", "brand\nnew\n", 1)
		e.untilRows("new", 1)
		e.goes(1)
		e.command("cursord-reject-hunk")
		e.poll("what is said", func() bool {
			return strings.Contains(e.messages(), "rejected 1 hunk; 1 hunk left in 1 file; new is not on disk any more; to write it again, save its buffer\n")
		})
		require.Equal(t, "(absent)", w.Get("new"))
		e.pending("new", 0)
		require.Equal(t, "brand\nnew\n", e.text("new"))
		require.False(t, e.modified("new"))
		e.untilRows("new")
		e.command("cursord-undo")
		e.agree(c, "new", "brand\nnew\n", 1)
		e.untilRows("new", 1)

		// Emacs asks no question before an edit. The saved text has the rejected lines again, so they are pending; what was typed is not.
		e.goes(1)
		e.command("cursord-reject-hunk")
		e.pending("new", 0)
		e.poll("the file to go", func() bool { return w.Get("new") == "(absent)" })
		e.keys("mine RET")
		e.command("save-buffer")
		e.agree(c, "new", "mine\nbrand\nnew\n", 1)
		require.NotContains(t, c.Diffs()["new"].Hunks[0].Lines, "+mine")
		e.quiet()
	})
}

// TestEmacsStaleDiff gives Emacs an answer with an older diff than the last notification.
func TestEmacsStaleDiff(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "fifteen\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.plays(c)
		e.agree(c, "f", after, 2)
		e.eval(`(progn (setq old (gethash "f" (cursord-workspace-diffs (cursord-workspace-find)))) nil)`)
		c.Decides("diff/accept", world.Obj{"hunks": []string{c.Diffs()["f"].Hunks[0].ID}})
		e.agree(c, "f", after, 1)
		e.eval(`(progn (cursord-put-diff (cursord-workspace-find) old) nil)`)
		e.pending("f", 1)
		c.Decides("diff/accept", world.Obj{"all": true})
		e.agree(c, "f", after, 0)
		e.eval(`(progn (cursord-put-diff (cursord-workspace-find) old) nil)`)
		e.pending("f", 0)
		// Reading everything again leads to the same hunks.
		c.Decides("diff/undo", world.Obj{})
		e.pending("f", 1)
		e.eval(`(progn (cursord-resync (cursord-workspace-find)) nil)`)
		e.pending("f", 1)
		e.untilRows("f", 15)
		e.quiet()
	})
}

// TestEmacsMarksStay decides and types: the overlays of other hunks stay the same ones.
func TestEmacsMarksStay(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "f")
		e.plays(c)
		e.agree(c, "f", after, 3)
		e.untilRows("f", 5, 15, 26)
		e.eval(`(progn (setq marks (copy-sequence cursord--marks)) nil)`)
		e.goes(15)
		e.command("cursord-accept-hunk")
		e.agree(c, "f", after, 2)
		e.untilRows("f", 5, 26)
		same := `(vconcat (mapcar (lambda (mark) (if (memq mark cursord--marks) t :json-false)) marks))`
		require.Equal(t, []any{true, false, true}, e.eval(same))
		e.eval(`(progn (goto-char (point-min)) (insert "mine\n") nil)`)
		e.until("the daemon knows", `(cursord--diff-fits-p (cursord-document))`)
		e.untilRows("f", 6, 27)
		require.Equal(t, []any{true, false, true}, e.eval(same))
		e.quiet()
	})
}

// TestEmacsFollowsAFoldersFirstTurn opens a file before anything is known of its folder. An agent that was started elsewhere then
// changes it: Emacs connects when the person saves, when it gets the focus, and when the person pauses.
func TestEmacsFollowsAFoldersFirstTurn(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n"})
	for name, act := range map[string]string{
		"save":  `(with-temp-buffer (setq buffer-file-name (expand-file-name "other")) (insert "x") (save-buffer))`,
		"focus": `(with-current-buffer "f" (cl-letf (((symbol-function 'frame-focus-state) #'always)) (funcall after-focus-change-function)))`,
		"pause": `(with-current-buffer "f" (cl-letf (((symbol-function 'frame-focus-state) #'always)) (apply (timer--function cursord--look-timer) (timer--args cursord--look-timer))))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", before)
				script := world.Edits("1", "f", before, after)
				w.Plays(world.Lines(script[:1], []string{world.Waits("go")}, script[1:])...)
				w.Start()
				e := startEmacs(w, t, bin, `(cursord-mode 1)`)
				e.find("f")
				e.until("an answer", `(and (featurep 'cursord-first) (not cursord--looking) (not (get-process "cursord look")))`)
				require.Nil(t, e.eval(`(and (featurep 'cursord-connection) (cursord-connection-to nil))`))
				c := w.Opens()
				c.Calls(c.Asks(nil).ID)
				e.eval(`(progn %s nil)`, act)
				e.until("it connects while the agent works", `(and (cursord-connection-to nil) (cursord-workspace-find (get-buffer "f")) (cursord-workspace-ready (cursord-workspace-find (get-buffer "f"))))`)
				w.Put("../go", "")
				e.untilText("f", after)
				e.pending("f", 1)
				e.eval(`(progn (cursord-mode -1) nil)`)
				require.Nil(t, e.eval(`cursord--look-timer`))
				e.quiet()
			})
		})
	}
}

// TestEmacsFirstSaveDuringACommand saves what a person types into an Emacs that has not connected yet, while a command runs of an agent that was
// started elsewhere. The lines are the person's.
func TestEmacsFirstSaveDuringACommand(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		for _, file := range []string{"f", "new", "latin1"} {
			t.Run(file, func(t *testing.T) {
				w := world.New(t)
				w.PutAll(world.Tree{"f": "a\n", "g": "g\n", "latin1": "\xe9\n"})
				w.Start()
				e := startEmacs(w, t, bin, `(cursord-mode 1)`)
				e.find(file)
				e.until("an answer", `(and (featurep 'cursord-first) (not cursord--looking) (not (get-process "cursord look")))`)
				c := w.Opens()
				script := world.Shells("s", "true")
				w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> g; touch ../ready"), world.Waits("go")}, script[1:])...)
				turn := c.Asks(nil)
				w.Exists("../ready")
				before := w.Get(file)
				e.eval(`(with-current-buffer %q (insert "typed\n") (save-buffer) nil)`, file)
				after := w.Get(file)
				require.NotEqual(t, before, after)
				e.until("the daemon has heard of it", `(with-current-buffer %q (and (cursord-document) (cursord-call (cursord-workspace-find) :diff/list nil) t))`, file)
				w.Put("../go", "")
				c.Ends(turn.ID)
				require.Equal(t, []string{"g"}, world.Sorted(world.Keys(c.Diffs())))
				c.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, after, w.Get(file))
				e.quiet()
			})
		}
	})
}

// TestEmacsSaveByAnotherProgram has another program save a file whose buffer has unsaved changes. Its other lines come into the
// buffer. If it has changed a line that was typed, too, Emacs goes on to know that the file has changed, and asks before it saves.
func TestEmacsSaveByAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, overlaps := range []bool{false, true} {
		t.Run(fmt.Sprintf("overlaps=%v", overlaps), func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{3: "agent 3\n"})
				w.Put("f", before)
				w.Plays(world.Edits("1", "f", before, after)...)
				w.Start()
				c := w.Opens()
				e := emacsOpens(w, t, bin, "", "f")
				e.plays(c)
				e.untilText("f", after)
				e.eval(`(with-current-buffer "f" (goto-char (point-min)) (search-forward "line 5") (replace-match "mine 5") nil)`)
				e.until("the daemon to know that text", `(with-current-buffer "f" (cursord--diff-fits-p (cursord-document)))`)
				theirs := map[int]string{3: "agent 3\n", 9: "theirs 9\n"}
				if overlaps {
					theirs[5] = "theirs 5\n"
				}
				w.Put("f", world.Numbered(12, theirs))
				merged := world.Numbered(12, map[int]string{3: "agent 3\n", 5: "mine 5\n", 9: "theirs 9\n"})
				e.untilText("f", merged)
				require.Equal(t, !overlaps, e.eval(`(verify-visited-file-modtime (get-buffer "f"))`) == true, "what Emacs knows of the file")
				require.Contains(t, e.messages(), "cursord: changes on disk came into f, ")
				require.NotContains(t, e.messages(), "the agent's changes")
				// A merge of the agent's lines later does not hide the other program's line either.
				later := map[int]string{3: "agent 3\n", 9: "theirs 9\n", 12: "agent 12\n"}
				if overlaps {
					later[5] = "theirs 5\n"
				}
				w.Plays(world.Edits("2", "f", w.Get("f"), world.Numbered(12, later))...)
				e.plays(c)
				e.untilText("f", strings.Replace(merged, "line 12\n", "agent 12\n", 1))
				require.Equal(t, !overlaps, e.eval(`(verify-visited-file-modtime (get-buffer "f"))`) == true, "what Emacs knows of the file")
				if overlaps {
					require.Contains(t, e.messages(), "cursord: changes on disk came into f, but not those of your unsaved lines; M-x ediff-current-file compares")
					e.eval(`(with-current-buffer "f" (cl-letf (((symbol-function 'yes-or-no-p) (lambda (prompt) (setq asked prompt) nil)))
						(ignore-errors (save-buffer))) nil)`)
					require.Contains(t, e.eval(`asked`), "f has changed since visited or saved")
					require.Contains(t, w.Get("f"), "theirs 5\n")
				}
			})
		})
	}
}
