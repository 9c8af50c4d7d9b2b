//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsEditsProposal edits the text that an isolated session proposes, and accepts it: for a buffer without unsaved changes,
// and for one with some.
func TestEmacsEditsProposal(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n"})
		w.PutAll(world.Tree{"f": before, "g": before, "h": "one\n"})
		w.Plays(append(append(world.Edits("1", "f", before, after), world.Edits("2", "g", before, after)...), world.Done)...)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "", "g", "f")
		turn := c.Turn(world.Obj{"sessionId": c.Isolates().ID})
		require.Equal(t, "completed", string(turn.Status))
		e.untilRows("f", 5, 15)
		e.untilRows("g", 5, 15)

		// Going back decides nothing. This is the first key of the package in this Emacs.
		e.goes(5)
		e.keys("C-c = E")
		require.Equal(t, after, e.buffer("*f: proposal*"))
		require.Equal(t, "*f: proposal*", e.eval(`(buffer-name)`))
		require.Contains(t, e.eval(`header-line-format`), "C-c C-c accept as edited")
		e.keys("C-c C-k")
		require.Equal(t, "(absent)", e.buffer("*f: proposal*"))
		e.agree(c, "f", before, 2)

		e.command("cursord-review")
		e.untilHere("@@ -2,7 +2,7 @@")
		e.keys("E")
		e.eval(`(progn (search-forward "15b") (replace-match "15 mine") nil)`)
		edited := strings.Replace(after, "15b", "15 mine", 1)
		e.keys("C-c C-c")
		e.agree(c, "f", edited, 0)
		require.Equal(t, "(absent)", e.buffer("*f: proposal*"))
		require.Equal(t, emacsReview, e.eval(`(buffer-name)`))

		// The file's buffer has unsaved changes, so it is not saved; undo leads back to them.
		e.find("g")
		e.eval(`(progn (goto-char (point-min)) (insert "mine\n") nil)`)
		e.untilRows("g", 6, 16)
		e.until("a diff of that text", `(cursord--diff-fits-p (cursord-document))`)
		e.goes(6)
		e.keys("C-c = E")
		e.eval(`(progn (goto-char (point-max)) (insert "the end\n") nil)`)
		e.keys("C-c C-c")
		e.untilText("g", "mine\n"+after+"the end\n")
		require.Equal(t, before, w.Get("g"))
		require.True(t, e.modified("g"))
		e.keys("C-/")
		e.untilText("g", "mine\n"+after)
		e.eval(`(progn (undo-redo) (save-buffer) nil)`)
		e.agree(c, "g", "mine\n"+after+"the end\n", 0)

		// Lines that the agent wrote into the file itself are no proposal.
		w.Plays(append(world.Edits("3", "h", "one\n", "two\n"), world.Done)...)
		c.Turn(nil)
		e.find("h")
		e.untilRows("h", 1)
		require.Contains(t, e.eval(`(condition-case err (cursord-edit-proposal) (user-error (cadr err)))`), "Nothing is proposed for this file")
		e.quiet()
	})
}
