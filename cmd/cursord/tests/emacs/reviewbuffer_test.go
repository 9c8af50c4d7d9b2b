//go:build unix

package emacs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// untilReview waits until the review has this text.
func (e *emacs) untilReview(want string) {
	e.t.Helper()
	e.untilBuffer(emacsReview, want)
}

// here is the line at point in the selected window.
func (e *emacs) here() string {
	e.t.Helper()
	return e.eval(`(buffer-substring-no-properties (line-beginning-position) (line-end-position))`).(string)
}

// untilHere waits until point is in this line.
func (e *emacs) untilHere(want string) {
	e.t.Helper()
	have := ""
	defer func() {
		if e.t.Failed() {
			e.t.Logf("point is in %q", have)
		}
	}()
	e.poll("point in "+want, func() bool { have = e.here(); return have == want })
}

// TestEmacsReviewBuffer decides by the keys of the review buffer. Its text is a unified diff that git can apply.
func TestEmacsReviewBuffer(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"a.txt": world.Numbered(30, nil), "b c": "one\ntwo\n", "gone": "was\nhere\n", "new": "(absent)", "noeol": "x\ny"}
		after := world.Tree{"a.txt": world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n", 25: ""}), "b c": "one\n2\n", "gone": "(absent)", "new": "brand\nnew\n", "noeol": "x\nY\n"}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "")
		e.command("cursord-review")
		e.untilReview("Nothing to review.\n")
		session := e.plays(c)
		whole := `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -2,7 +2,7 @@
 line 2
 line 3
 line 4
-line 5
+five
 line 6
 line 7
 line 8
@@ -12,7 +12,8 @@
 line 12
 line 13
 line 14
-line 15
+15a
+15b
 line 16
 line 17
 line 18
@@ -22,7 +23,6 @@
 line 22
 line 23
 line 24
-line 25
 line 26
 line 27
 line 28
diff --git a/b c b/b c
--- a/b c	
+++ b/b c	
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-was
-here
diff --git a/new b/new
new file mode 100644
--- /dev/null
+++ b/new
@@ -0,0 +1,2 @@
+brand
+new
diff --git a/noeol b/noeol
--- a/noeol
+++ b/noeol
@@ -1,2 +1,2 @@
 x
-y
\ No newline at end of file
+Y
`
		e.untilReview(whole)
		require.Contains(t, e.eval(`(substring-no-properties (format-mode-line header-line-format))`), "7 hunks in 5 files · a accept · r reject · u undo · m comment")
		// git can apply it in reverse.
		w.Put("../patch", e.buffer(emacsReview))
		w.Git("init", "-q")
		w.Git("apply", "--check", "-R", "../patch")

		// A decision leads to the next hunk.
		e.keys("M-< n")
		e.untilHere("@@ -2,7 +2,7 @@")
		e.keys("n")
		e.untilHere("@@ -12,7 +12,8 @@")
		e.keys("p r")
		e.untilHere("@@ -12,7 +12,8 @@")
		require.Equal(t, world.Numbered(30, map[int]string{15: "15a\n15b\n", 25: ""}), w.Get("a.txt"))
		// Point stays in its line while hunks come and go above.
		e.keys("C-n C-n C-n C-n C-n C-f")
		require.Equal(t, "+15a", e.here())
		e.eval(`(with-temp-buffer (cursord-undo) nil)`) // an undo in the review would go to the hunk
		e.until("both hunks", `(= 7 (car (cursord-pending cursord-buffer-workspace)))`)
		e.untilReview(whole)
		require.Equal(t, "+15a", e.here())
		require.Equal(t, 1.0, e.eval(`(current-column)`))
		// Lines of a region.
		e.eval(`(progn (transient-mark-mode 1) (beginning-of-line) (push-mark (line-beginning-position 2) t t) nil)`)
		e.keys("r")
		e.poll("the line to go", func() bool {
			return w.Get("a.txt") == world.Numbered(30, map[int]string{5: "five\n", 15: "15b\n", 25: ""})
		})
		e.keys("u")
		e.untilReview(whole)

		// Files.
		e.keys("N")
		require.Equal(t, "diff --git a/b c b/b c", e.here())
		e.keys("a") // where its name is, the only hunk of a file is meant
		e.untilHere("@@ -1,2 +0,0 @@")
		e.keys("P P")
		require.Equal(t, "diff --git a/a.txt b/a.txt", e.here())
		require.Equal(t, "There are several hunks: A and R decide them all, n goes to the first",
			e.eval(`(condition-case err (cursord-accept-hunk) (user-error (substring-no-properties (cadr err))))`))
		e.keys("R")
		e.poll("the file as it was", func() bool { return w.Get("a.txt") == before["a.txt"] })
		e.untilHere("@@ -1,2 +0,0 @@")
		e.keys("r")
		e.poll("the file back", func() bool { return w.Get("gone") == before["gone"] })

		// A comment, and a decision with one.
		e.untilHere("@@ -0,0 +1,2 @@")
		e.eval(`(progn (fset 'read-string (lambda (&rest _) "Shorter.")) nil)`)
		e.keys("m C-u a")
		e.untilReview(whole[strings.Index(whole, "diff --git a/noeol"):])
		// RET leads from a hunk to its file.
		e.eval(`(progn (goto-char (point-max)) (forward-line -1) nil)`)
		e.keys("RET")
		require.Equal(t, "noeol Y", e.eval(`(format "%s %s" (buffer-name) (buffer-substring-no-properties (line-beginning-position) (line-end-position)))`))
		e.eval(`(progn (select-window (get-buffer-window %q)) (goto-char (point-max)) (forward-line -1) (diff-goto-source) nil)`, emacsReview)
		require.Equal(t, "noeol Y", e.eval(`(format "%s %s" (buffer-name) (buffer-substring-no-properties (line-beginning-position) (line-end-position)))`))
		e.eval(`(progn (select-window (get-buffer-window %q)) nil)`, emacsReview)

		// All, after one question.
		e.keys("C-c C-r")
		e.untilReview("Nothing to review.\n")
		require.Equal(t, "Reject all 1 hunk in 1 file? ", e.eval(`asked`))
		require.Equal(t, "x\ny", w.Get("noeol"))
		e.keys("u")
		e.poll("the hunk again", func() bool { return strings.Contains(e.buffer(emacsReview), "+Y\n") })
		e.keys("C-c C-a")
		e.untilReview("Nothing to review.\n")
		require.Equal(t, "x\nY\n", w.Get("noeol"))
		require.Equal(t, world.Tree{"a.txt": before["a.txt"], "b c": after["b c"], "gone": before["gone"], "new": after["new"], "noeol": "x\nY\n"},
			world.Tree{"a.txt": w.Get("a.txt"), "b c": w.Get("b c"), "gone": w.Get("gone"), "new": w.Get("new"), "noeol": w.Get("noeol")})
		e.keys("q")
		require.NotEqual(t, emacsReview, e.eval(`(buffer-name)`))

		c.Turn(world.Obj{"sessionId": session})
		prompts := w.Runs()
		require.Equal(t, 2, strings.Count(prompts[len(prompts)-1].Prompt, "Shorter."), "%s", prompts[len(prompts)-1].Prompt)
		e.quiet()
	})
}

// TestEmacsReviewKeysDestroyNothing requires that the review has no key of diff-mode that would change files or the patch.
func TestEmacsReviewKeysDestroyNothing(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "")
		e.plays(c)
		e.command("cursord-review")
		e.untilHere("@@ -2,7 +2,7 @@")
		text := e.buffer(emacsReview)
		for _, keys := range []string{"C-c C-c", "C-c C-a", "C-c C-r", "C-c C-s", "C-c C-u", "C-c C-d", "C-c RET a", "M-k", "M-K", "M-A", "M-r", "M-R", "k", "K", "x", "C-k", "W"} {
			command := e.eval(`(format "%%s" (with-current-buffer %q (key-binding (kbd %q))))`, emacsReview, keys)
			t.Log(keys, command)
			if strings.HasPrefix(fmt.Sprint(command), "cursord-") {
				continue
			}
			e.eval(`(progn (with-current-buffer %q (fset 'y-or-n-p #'ignore) (fset 'yes-or-no-p #'ignore) (ignore-errors (execute-kbd-macro (kbd %q)))) (select-window (get-buffer-window %q)) nil)`, emacsReview, keys, emacsReview)
			require.Equal(t, text, e.buffer(emacsReview), keys)
			require.Equal(t, after, w.Get("f"), keys)
		}
		e.find("f")
		e.agree(c, "f", after, 1)
	})
}
