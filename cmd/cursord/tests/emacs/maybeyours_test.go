//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsMaybeYours reviews a hunk that no call of the agent explains: it has faces of its own, a reject of several hunks
// leaves it, and a reject of it alone takes it back.
func TestEmacsMaybeYours(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		c, _ := w.Unexplained()
		e := emacsOpens(w, t, bin, "", "f", "notes.txt")
		e.untilRows("notes.txt", 12)
		e.untilRows("f", 2, 15)
		face := func(path string) any {
			return e.eval(`(with-current-buffer (find-buffer-visiting %q) (format "%%s" (overlay-get (car cursord--marks) 'face)))`, w.Path(path))
		}
		before := func(path string) any {
			return e.eval(`(with-current-buffer (find-buffer-visiting %q) (substring-no-properties (overlay-get (car cursord--marks) 'before-string)))`, w.Path(path))
		}
		require.Equal(t, "cursord-maybe", face("notes.txt"))
		require.Contains(t, before("notes.txt"), "may be yours: it is not surely the agent's\n-line 12\n")
		require.Equal(t, "cursord-added", face("f"))
		require.NotContains(t, before("f"), "yours")

		e.find("notes.txt")
		e.goes(12)
		e.command("cursord-why")
		require.Regexp(t, `^Line 12  may be yours: it is not surely the agent's\n  do it\n  pending, `, e.buffer("*cursord why*"))

		e.command("cursord-review")
		e.poll("the review", func() bool {
			return strings.Contains(e.buffer(emacsReview), "@@ -9,7 +9,7 @@ may be yours: it is not surely the agent's\n line 9\n")
		})
		review := e.buffer(emacsReview)
		require.Contains(t, review, "so it may be yours: only a reject\nof its hunk takes it back.\ndiff --git a/notes.txt b/notes.txt\n")
		require.Contains(t, review, "@@ -1,5 +1,5 @@\n")
		require.Contains(t, e.eval(`(save-excursion (font-lock-ensure) (goto-char (point-min)) (search-forward "@@ may be") (format "%s" (get-text-property (point) 'face)))`),
			"cursord-maybe-note")

		// Reject everything, then the file.
		e.command("cursord-reject-all")
		require.Equal(t, "Reject all 3 hunks in 2 files, but 1 that may be yours? ", e.eval(`asked`))
		e.poll("what is left", func() bool {
			return strings.Contains(e.messages(), "cursord: rejected 2 hunks; 1 hunk left in 1 file; left 1 hunk that may be yours: notes.txt:12 (reject each by itself)")
		})
		w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
		e.find("notes.txt")
		e.command("cursord-reject-file")
		e.poll("what is left", func() bool {
			return strings.Contains(e.messages(), "cursord: rejected nothing; left 1 hunk that may be yours: notes.txt:12")
		})
		e.agree(c, "notes.txt", world.UnexplainedAfter["notes.txt"], 1)

		e.goes(12)
		e.command("cursord-reject-hunk")
		e.agree(c, "notes.txt", world.UnexplainedBefore["notes.txt"], 0)
		w.RequireTree(world.UnexplainedBefore)
		e.command("cursord-undo")
		e.agree(c, "notes.txt", world.UnexplainedAfter["notes.txt"], 1)
		e.untilRows("notes.txt", 12)
		require.Equal(t, "cursord-maybe", face("notes.txt"), "it is drawn as before")
	})
}

// TestEmacsRegionLeavesWhatMayBeYours rejects a region with several such hunks, and a region with one.
func TestEmacsRegionLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PlaysUnexplained()
		w.Plays(world.Lines(world.Shells("s", "true"), []string{world.Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 18$/eighteen/' notes.txt")})...)
		w.Start()
		c := w.Opens()
		c.Turn(nil)
		after := world.Numbered(20, map[int]string{2: "two\n", 18: "eighteen\n"})
		e := emacsOpens(w, t, bin, "", "notes.txt")
		e.untilRows("notes.txt", 2, 18)
		e.eval(`(progn (transient-mark-mode 1) (goto-char (point-min)) (push-mark (point-max) t t) nil)`)
		e.command("cursord-reject-hunk")
		e.poll("what is left", func() bool {
			return strings.Contains(e.messages(), "cursord: rejected nothing; left 2 hunks that may be yours: notes.txt:2, notes.txt:18 (reject each by itself)")
		})
		e.agree(c, "notes.txt", after, 2)
		e.goes(10)
		e.eval(`(progn (push-mark (point-max) t t) nil)`)
		e.command("cursord-reject-hunk")
		e.agree(c, "notes.txt", world.Numbered(20, map[int]string{2: "two\n"}), 1)
	})
}

// TestEmacsUnsavedBeforeTheFirstTurn has unsaved text in an Emacs that knows nothing of cursord yet, and its lock file, while the
// agent writes the file. The hunks are the agent's, also when Emacs says what it holds.
func TestEmacsUnsavedBeforeTheFirstTurn(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{3: "agent 3\n", 15: "agent 15\n"})
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, after)...)
		w.Start()
		e := startEmacs(w, t, bin, `(setq create-lockfiles t)`)
		e.find("f")
		e.eval(`(progn (goto-char (point-max)) (insert "mine\n") nil)`)
		c := w.Opens()
		c.Turn(nil)
		for _, h := range c.Diffs()["f"].Hunks {
			require.EqualValues(t, "edit", h.Sources[0].Via)
		}
		e.command("cursord-review")
		e.untilText("f", after+"mine\n")
		e.pending("f", 2)
		e.poll("the review", func() bool { return strings.Contains(e.buffer(emacsReview), "+agent 15\n") })
		require.NotContains(t, e.buffer(emacsReview), "may be yours")
		e.quiet()
	})
}
