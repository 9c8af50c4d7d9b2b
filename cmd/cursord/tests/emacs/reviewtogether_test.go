//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsSeveralReview reviews one workspace in two Emacsen, one with unsaved text; the daemon is killed in between.
func TestEmacsSeveralReview(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "fifteen\n", 25: "twenty-five\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		one, two := emacsOpens(w, t, bin, "", "f"), emacsOpens(w, t, bin, "", "f")
		two.command("cursord-review")
		two.eval(`(progn (other-window 1) (find-file %q) nil)`, w.Path("f"))
		one.plays(c)
		one.agree(c, "f", after, 3)
		two.agree(c, "f", after, 3)
		one.eval(`(progn (goto-char (point-max)) (insert "mine\n") nil)`)
		one.until("the daemon knows", `(cursord--diff-fits-p (cursord-document))`)
		one.untilRows("f", 5, 15, 25)

		// The second Emacs cannot reject: that would write the file beneath the unsaved text of the first.
		two.goes(5)
		two.command("cursord-reject-hunk")
		two.poll("a refusal", func() bool { return strings.Contains(two.messages(), "f has unsaved changes in an editor") })
		two.command("cursord-reject-all")
		two.poll("why nothing is rejected", func() bool {
			return strings.Contains(two.messages(), "left out: f has unsaved changes in an editor; save it there, or decide there")
		})
		two.goes(5)
		require.Equal(t, after, w.Get("f"))
		two.command("cursord-accept-hunk")
		one.pending("f", 2)
		two.pending("f", 2)
		one.untilRows("f", 15, 25)

		w.Kill()
		t.Cleanup(func() { w.Cursord("stop", "--force") })
		one.eval(`(progn (cursord-call (cursord-workspace-find) :workspace/list nil :timeout 60) nil)`)
		c = w.Joins()
		one.goes(15)
		one.command("cursord-reject-hunk")
		mine := strings.Replace(after, "fifteen\n", "line 15\n", 1) + "mine\n"
		one.untilText("f", mine)
		require.Equal(t, after, w.Get("f"))
		one.command("save-buffer")
		one.agree(c, "f", mine, 1)
		two.agree(c, "f", mine, 1)
		two.goes(25)
		two.command("cursord-reject-hunk")
		done := strings.Replace(mine, "twenty-five\n", "line 25\n", 1)
		one.agree(c, "f", done, 0)
		two.agree(c, "f", done, 0)
		two.untilBuffer(emacsReview, "Nothing to review.\n")
		one.quiet()
		two.quiet()
	})
}

// TestEmacsEdiffAndSmerge compares a file with its former text, and chooses sides of conflicts in a copy.
func TestEmacsEdiffAndSmerge(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, `(setq ediff-window-setup-function 'ediff-setup-windows-plain)`, "f")
		e.plays(c)
		e.command("cursord-review")
		e.untilHere("@@ -2,7 +2,7 @@")
		e.keys("e")
		require.Equal(t, before, e.buffer("*f: before*"))
		e.eval(`(progn (with-current-buffer "*Ediff Control Panel*" (ediff-next-difference) (ediff-copy-A-to-B nil) (ediff-quit nil)) nil)`)
		one := world.Numbered(30, map[int]string{15: "15a\n15b\n", 25: ""})
		e.untilText("f", one)
		e.pending("f", 2)
		require.Equal(t, "(absent)", e.buffer("*f: before*"))
		require.Equal(t, emacsReview, e.eval(`(buffer-name)`))
		require.Equal(t, after, w.Get("f"))

		e.until("what was copied is known", `(cursord--diff-fits-p (cursord-document (get-buffer "f")))`)
		e.keys("s")
		require.Equal(t, strings.Replace(strings.Replace(one, "15a\n15b\n", "<<<<<<< before\nline 15\n=======\n15a\n15b\n>>>>>>> agent\n", 1),
			"line 24\n", "line 24\n<<<<<<< before\nline 25\n=======\n>>>>>>> agent\n", 1), e.buffer("*f: merge*"))
		require.Equal(t, "*f: merge*", e.eval(`(buffer-name)`))
		require.Contains(t, e.eval(`(substring-no-properties header-line-format)`), "C-c C-c decide")
		require.Equal(t, one, e.text("f"))
		e.keys("M-< C-c ^ n C-c ^ l C-c ^ n C-c ^ u C-c C-c")
		two := world.Numbered(30, map[int]string{15: "15a\n15b\n"})
		// The buffer had unsaved changes, so it is not saved.
		e.untilText("f", two)
		e.eval(`(with-current-buffer "f" (save-buffer) nil)`)
		e.agree(c, "f", two, 0)
		e.quiet()
	})
}
