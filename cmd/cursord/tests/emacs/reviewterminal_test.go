//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsHunksOnScreen draws hunks in a real terminal: deleted lines above the added ones, only a few of very many lines, and
// the beginning of a very long line, so that a person can scroll over them.
func TestEmacsHunksOnScreen(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		many := map[int]string{}
		for i := 40; i < 1040; i++ {
			many[i] = ""
		}
		long := strings.Repeat("a very long line ", 50_000) + "\n"
		before := world.Numbered(1100, map[int]string{9: long})
		many[5], many[9] = "five\n", "short\n"
		w.Put("f", before)
		w.Plays(world.Edits("1", "f", before, world.Numbered(1100, many))...)
		w.Start()
		w.Trusts()
		c := w.Opens()
		e, tm := terminalEmacs(w, t, bin, `(progn (keymap-global-set "C-c a" cursord-command-map) (cursord-mode))`)
		e.eval(`(progn (find-file %q) (cursord-workspace-open) (repeat-mode) nil)`, w.Path("f"))
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		e.plays(c)
		e.untilRows("f", 5, 9, 40)
		untilScreen(tm, e, `(?s)\nline 4\n-line 5\nfive\nline 6\nline 7\nline 8\n-a very long line [^\n]*\n`)

		// From hunk to hunk: once with the prefix, then by single keys.
		tm.Types("M-<", "C-c", "a", "n")
		e.until("the first hunk", `(= 5 (line-number-at-pos))`)
		tm.Types("n", "n")
		e.until("the last hunk", `(= 40 (line-number-at-pos))`)
		untilScreen(tm, e, `\n-line 47\n-… and 992 lines\nline 1040\n`)
		tm.Types("C-n", "C-v", "M-v", "M-<")
		untilScreen(tm, e, `line 1\n`)
		e.until("point at the beginning", `(bobp)`)
		tm.Types("C-c", "a", "n", "r")
		e.until("the hunk to go", `(= 2 (length (cursord-hunk-places)))`)
		untilScreen(tm, e, `\nline 4\nline 5\nline 6\n`)
		tm.Types("C-c", "a", "v")
		untilScreen(tm, e, `2 hunks in 1 file · a accept`)
		// Emacs knows that the file has the text of the buffer, and asks nothing.
		e.eval(`(progn (select-window (get-buffer-window "f")) (goto-char (point-min)) nil)`)
		tm.Types("mine", "C-x", "C-s")
		e.poll("what was typed on disk", func() bool { return strings.HasPrefix(w.Get("f"), "mineline 1\n") })
		require.Contains(t, w.Get("f"), "\nline 5\n")
		e.quiet()
	})
}
