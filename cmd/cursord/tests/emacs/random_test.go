//go:build unix

package emacs

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var (
	emacsSteps = flag.Int("emacs.steps", 15, "how many steps TestEmacsRandomReview takes")
	emacsSeed  = flag.Uint64("emacs.seed", 1, "what they are drawn from")
)

// emacsAgrees is Lisp that returns what does not agree: buffers without unsaved changes with their files, hunks with those that
// the daemon lists for this Emacs, marks with the places of hunks, and the review with all of them.
const emacsAgrees = `(progn
  (setq transient-mark-mode t revert-without-query '(".*"))
  (fset 'y-or-n-p #'always)
  (fset 'yes-or-no-p #'always)
  ;; Who types in what was written this very moment goes on.
  (load "userlock" nil t)
  (fset 'ask-user-about-supersession-threat #'ignore)
  (defun random-marks (buffer hunks)
    (with-current-buffer buffer
      (let ((marks (seq-filter #'overlay-buffer cursord--marks)) (at 0) bad)
        (seq-doseq (hunk hunks)
          (pcase-let ((` + "`(,groups . ,present)" + ` (cursord-groups hunk)))
            (save-excursion
              (goto-char (point-min))
              (unless (or (null present) (cursord--present-p present 0)) (setq bad "other lines")))
            (dolist (group groups)
              (let ((mark (seq-find (lambda (o) (equal (cursord--group-key group) (cursord--group-key (overlay-get o 'cursord-group)))) marks)))
                (cl-incf at)
                (unless (and mark
                             (= (1- (line-number-at-pos (overlay-start mark) t)) (cursord-group-row group))
                             (= (count-lines (overlay-start mark) (overlay-end mark)) (length (cursord-group-present group))))
                  (setq bad (format "the mark of %S in row %d" (cursord--group-key group) (cursord-group-row group))))))))
        (or bad (and (/= at (length marks)) (format "%d marks for %d groups" (length marks) at))))))
  (defun random-disagreement (&rest paths)
    (let* ((ws (cursord-workspace-find))
           (listed (plist-get (cursord-call ws :diff/list nil :timeout 60) :diffs))
           (ids (lambda (diff) (mapcar (lambda (hunk) (plist-get hunk :id)) (plist-get diff :hunks))))
           (of (lambda (path) (seq-find (lambda (diff) (equal path (plist-get diff :path))) listed))))
      (or (seq-some
           (lambda (path)
             (let* ((file (cursord-file ws path))
                    (buffer (find-buffer-visiting file))
                    (diff (funcall of path))
                    (have (gethash path (cursord-workspace-diffs ws))))
               (concat-if path
                 (cond ((not (equal (funcall ids diff) (funcall ids have)))
                        (format "%S is known and %S is listed" (funcall ids have) (funcall ids diff)))
                       ((null buffer) nil)
                       ((and (not (buffer-modified-p buffer)) (file-exists-p file)
                             (not (equal (with-temp-buffer (insert-file-contents file) (buffer-string))
                                         (with-current-buffer buffer (save-restriction (widen) (buffer-substring-no-properties 1 (point-max)))))))
                        "the buffer is not its file")
                       ((and (file-exists-p file) (not (equal (plist-get diff :kind) "deleted")))
                        (random-marks buffer (plist-get diff :hunks)))))))
           paths)
          (and (seq-some (lambda (diff) (not (member (plist-get diff :path) paths))) listed) "more is listed")
          (when-let* ((review (car (cursord--reviews ws))))
            (with-current-buffer review
              (let ((shown (sort (delete-dups (mapcar #'car (cursord--hunk-positions))) #'string<))
                    (want (sort (delete-dups (seq-mapcat ids listed)) #'string<)))
                (and (get-buffer-window review) (not (equal shown want))
                     (format "%S is in the review and %S is listed" shown want)))))
          "")))
  (defun concat-if (path why) (and why (concat path ": " why)))
  (defun random-line (n) (goto-char (point-min)) (forward-line (mod n (max 1 (count-lines (point-min) (point-max))))))
  (defun random-region (a n) (random-line a) (push-mark (point) t t) (forward-line n) (activate-mark))
  (require 'cursord-review))`

// A randomReview is a story of decisions, typing and turns, in two Emacsen.
type randomReview struct {
	t     *testing.T
	w     *world.World
	rnd   *rand.Rand
	both  []*emacs
	paths []string
	turns int
}

// typed reports whether some Emacs has changes in the buffer of a file.
func (r *randomReview) typed(path string) bool {
	for _, e := range r.both {
		if e.eval(`(let ((b (find-buffer-visiting %q))) (if (and b (buffer-modified-p b)) t :json-false))`, r.w.Path(path)) == true {
			return true
		}
	}
	return false
}

// turn runs an agent that changes files in which nobody has typed, in a copy of the workspace if apart is set. It calls meanwhile
// while the agent works.
func (r *randomReview) turn(apart bool, meanwhile func()) {
	r.t.Helper()
	var script []string
	goOn, isolation := r.w.Path(fmt.Sprint("../go", r.turns)), "none"
	if apart {
		isolation = "copy"
	}
	for i, p := range r.paths {
		was := r.w.Get(p)
		if apart && was == "(absent)" {
			continue
		}
		if i == 2 && meanwhile != nil {
			script = append(script, fmt.Sprintf(`{"fake":"wait","path":%q}`, goOn))
		}
		call := fmt.Sprint("c", r.turns, ".", i)
		switch {
		case r.rnd.IntN(3) == 0 || r.typed(p):
		case was == "(absent)":
			script = append(script, world.Edits(call, p, was, world.Numbered(8+r.rnd.IntN(8), nil))...)
		case apart: // what it has there may be something else
			script = append(script, world.Edits(call, p, "(absent)", world.Scrambled(r.rnd, was, fmt.Sprintf("apart %d", r.turns)))...)
		case i > 1 && r.rnd.IntN(3) == 0:
			script = append(script, world.Deletes(call, p, was)...)
		default:
			script = append(script, world.Edits(call, p, was, world.Scrambled(r.rnd, was, fmt.Sprintf("agent %d", r.turns)))...)
		}
	}
	r.w.Plays(append(script, world.Done)...)
	r.turns++
	e := r.both[r.rnd.IntN(2)]
	e.eval(`(let* ((ws (cursord-workspace-find)) (cursord-session-options '(:isolation "%[1]s"))
			(new (not (equal "%[1]s" (plist-get (cursord-session ws) :isolation)))))
		(setq random-turn (plist-get (plist-get (cursord-send ws "turn" nil new) :turn) :id)) nil)`, isolation)
	if meanwhile != nil {
		meanwhile()
		require.NoError(r.t, os.WriteFile(goOn, nil, 0o644))
	}
	e.until("the end of the turn", `(cursord-turn-ended-p (gethash random-turn (cursord-workspace-turns (cursord-workspace-find))))`)
}

// step does something in one Emacs, in the buffer of a file, and returns its name.
func (r *randomReview) step(e *emacs, path string, step int) string {
	r.t.Helper()
	pick := func(of ...string) string { return of[r.rnd.IntN(len(of))] }
	e.eval(`(progn (unless (find-buffer-visiting %[1]q) (when (file-exists-p %[1]q) (find-file-noselect %[1]q)))
		(when (find-buffer-visiting %[1]q) (switch-to-buffer (find-buffer-visiting %[1]q))) nil)`, r.w.Path(path))
	at := r.rnd.IntN(80)
	what := ""
	switch r.rnd.IntN(16) {
	case 0, 1, 2:
		what = fmt.Sprintf(`(random-line %d) (ignore-errors (cursord-next-hunk)) (call-interactively '%s)`, at, pick("cursord-accept-hunk", "cursord-reject-hunk", "cursord-reject-hunk"))
	case 3:
		what = fmt.Sprintf(`(random-region %d %d) (call-interactively '%s)`, at, 1+r.rnd.IntN(12), pick("cursord-accept-hunk", "cursord-reject-hunk"))
	case 4, 5:
		what = fmt.Sprintf(`(cursord-%s)`, pick("undo", "undo", "redo"))
	case 6, 7:
		what = fmt.Sprintf(`(let ((last-command nil)) (%s))`, pick("undo", "undo-redo", "undo"))
	case 8, 9:
		what = fmt.Sprintf(`(random-line %d) (insert "mine %d\n") (undo-boundary)`, at, step)
	case 10:
		what = fmt.Sprintf(`(random-line %d) (delete-region (point) (progn (forward-line 1) (point))) (undo-boundary)`, at)
	case 11:
		what = `(when (buffer-modified-p) (save-buffer))`
	case 12:
		what = fmt.Sprintf(`(cursord-%s)`, pick("reject-file", "accept-file", "reject-all"))
	case 13:
		return "turn"
	case 14:
		what = fmt.Sprintf(`(cursord-review) (goto-char (1+ (mod %d (point-max)))) (execute-kbd-macro (kbd %q))`, at*97, pick("n a", "p r", "N A", "R", "u", "U", "r"))
	case 15:
		what = pick(`(set-buffer-modified-p nil) (kill-buffer)`, `(when (file-exists-p buffer-file-name) (revert-buffer t t))`)
	}
	if strings.Contains(what, "random-line") || strings.Contains(what, "undo))") || strings.Contains(what, "undo-redo") {
		// Two people do not type in one file.
		other := r.both[0]
		if e == other {
			other = r.both[1]
		}
		if other.eval(`(let ((b (find-buffer-visiting %q))) (if (and b (buffer-modified-p b)) t :json-false))`, r.w.Path(path)) == true {
			return "nothing"
		}
	}
	return what
}

// acts does a step in one Emacs, and waits until both agree.
func (r *randomReview) acts(step int, within bool) {
	t, w := r.t, r.w
	t.Helper()
	who, path := r.rnd.IntN(2), r.paths[r.rnd.IntN(4)]
	e := r.both[who]
	what := r.step(e, path, step)
	unsaved := world.Tree{}
	for _, p := range r.paths {
		if !within && !strings.Contains(what, "save-buffer") && r.typed(p) {
			unsaved[p] = w.Get(p)
		}
	}
	t.Logf("step %d, Emacs %d in %s: %s", step, who, path, what)
	switch {
	case what == "nothing" || what == "turn" && within:
	case what == "turn":
		var meanwhile func()
		if r.rnd.IntN(3) == 0 {
			meanwhile = func() {
				for i := range 4 {
					r.acts(1000*(step+1)+i, true)
				}
			}
			clear(unsaved)
		}
		r.turn(r.rnd.IntN(3) == 0, meanwhile)
	default:
		// A message that there is nothing to do counts as an answer.
		e.eval(`(progn (with-current-buffer (window-buffer) (condition-case err (progn %s) (user-error (message "%%s" (cadr err))))) nil)`, what)
	}
	if strings.Contains(what, "save-buffer") {
		// The daemon tells nobody about saves of a file without hunks.
		r.both[1-who].eval(`(let ((b (find-buffer-visiting %q)))
			(when (and b (not (buffer-modified-p b)) (not (gethash %q (cursord-workspace-diffs (cursord-workspace-find)))))
				(with-current-buffer b (revert-buffer t t t))) nil)`, w.Path(path), path)
	}
	for _, e := range r.both {
		var why any
		if !world.Comes(world.Patience, func() bool { why = e.eval(`(random-disagreement "f" "g" "h" "i")`); return why == "" }) {
			t.Fatalf("step %d: %v\n%s\n%s", step, why, e.messages(), e.buffer(emacsReview))
		}
		require.NotRegexp(t, `(?i)error in|wrong type|void|invalid|\[jsonrpc\]`, e.messages())
	}
	for p, was := range unsaved {
		if r.typed(p) {
			require.Equal(t, was, w.Get(p), "%s has changes", p)
		}
	}
}

// TestEmacsRandomReview decides, types, undoes and asks at random, in two Emacsen and four files, also while the agent works, and
// in part in a copy. Some files come and go. After each step, buffers, files, marks, reviews and the daemon's list agree.
func TestEmacsRandomReview(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		r := &randomReview{t: t, w: w, rnd: rand.New(rand.NewPCG(*emacsSeed, 0)), paths: []string{"f", "g", "h", "i"}}
		for _, p := range r.paths {
			w.Put(p, world.Numbered(40, nil))
		}
		w.Start()
		w.Trusts()
		for range 2 {
			r.both = append(r.both, emacsOpens(w, t, bin, emacsAgrees, r.paths...))
		}
		r.turn(false, nil)
		for step := range *emacsSteps {
			r.acts(step, false)
		}
	})
}
