//go:build unix

package cli

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/tests/world"
)

// holds waits until the screen contains a text.
func holds(tm *world.Tmux, text string) {
	tm.T.Helper()
	require.Eventually(tm.T, func() bool { return strings.Contains(tm.Screen(), text) }, world.Patience, 10*time.Millisecond, "no %q on the screen", text)
}

// TestTerminalReview walks through a review by single keys.
func TestTerminalReview(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	old := "one\ntotal = old(value)\n" + world.Numbered(12, nil)
	now := "one\ntotal = new(value)\n" + world.Numbered(12, map[int]string{8: "eight\x1b[2J\n"})
	w.Put("a.txt", old)
	w.Put("../editor", "#!/bin/sh\nprintf 'edit %s: ' \"$1\"\nread x\necho \"$x\" >>\"$2\"\n")
	require.NoError(t, os.Chmod(w.Path("../editor"), 0o755))
	w.Plays(world.Lines(world.Edits("1", "a.txt", old, now))...)
	w.Start()
	e := w.Opens()
	session := e.Turn(nil).SessionID
	tm := w.Terminal(t, "VISUAL="+w.Path("../editor"))
	ask, askOfOne := strings.TrimSpace(review.Question(true, false)), strings.TrimSpace(review.Question(false, false))
	first := "\n-total = old(value)\n+total = new(value)\n line 1\n line 2\n line 3\n" + ask
	part := "\n-total = old(value)\n·+total = new(value)\n line 1\n line 2\n" + askOfOne
	second := "\n line 5\n line 6\n line 7\n-line 8\n+eight␛[2J\n line 9\n line 10\n line 11\n" + ask

	tm.Types("cursord review", "Enter")
	tm.Until(first)
	require.Contains(t, tm.Screen(), "\na.txt (modified, +2 -2), hunk 1 of 2\n@@ -1,5 +1,5 @@ ")
	tm.Types("Down")
	tm.Until(second)
	tm.Types("k")
	tm.Until(first)
	tm.Types("y")
	tm.Until(second)
	require.Len(t, e.Diffs()["a.txt"].Hunks, 1, "a key decides at once")
	tm.Types("u")
	tm.Until(first)
	tm.Types("s")
	tm.Until(part)
	tm.Types("x")
	tm.Until("? x\n\"x\" is no answer here; ? shows which are.\n" + askOfOne)

	// A comment is a line, and the terminal echoes it.
	tm.Types("c")
	tm.Until("\nComment:")
	tm.Types("why t", "BSpace", "now")
	tm.Until("\nComment: why now")
	tm.Types("Enter")
	tm.Until("\nThe agent gets this with the next prompt of session " + session + ".\n" + askOfOne)

	// The editor gets the terminal in its usual mode.
	tm.Types("e")
	tm.Until("\nedit +2:")
	tm.Types("mine")
	tm.Until("\nedit +2: mine")
	tm.Types("Enter")
	tm.Until(part)
	require.Equal(t, now+"mine\n", w.Get("a.txt"))

	// The shell gets its terminal back while the review is suspended.
	tm.Types("C-z")
	tm.Until("\n$")
	tm.Types("stty -a | grep -c -e -icanon", "Enter")
	tm.Until("\n0\n$")
	tm.Types("fg", "Enter")
	tm.Until("\n" + askOfOne)
	tm.Types("d")
	tm.Until("\nrejected 2, 1 comment; nothing left to review\n$")
	require.Equal(t, old+"mine\n", w.Get("a.txt"))

	// The terminal's mode is restored however the review ends.
	w.Plays(world.Lines(world.Edits("1", "b.txt", "(absent)", "b\n"))...)
	e.Turn(nil)
	for _, key := range []string{"C-c", "q", "C-d"} {
		tm.Types("clear; cursord review; echo status $?; stty -a | grep -c -e -icanon -e -echo\\ ", "Enter")
		tm.Until("\n+b\n" + askOfOne)
		tm.Types(key)
		status := "status 0"
		if key == "C-c" {
			status = "status 130"
		}
		tm.Until("\nnothing decided; 1 hunk left in 1 file\n" + status + "\n0\n$")
	}
}

// TestTerminalPager shows a diff that is longer than the screen.
func TestTerminalPager(t *testing.T) {
	t.Parallel()
	world.Program(t, "less")
	w := world.New(t)
	w.Plays(world.Lines(world.Edits("1", "a.txt", "(absent)", world.Numbered(100, nil)))...)
	w.Start()
	w.Opens().Turn(nil)
	tm := w.Terminal(t)
	tm.Types("clear; cursord diff", "Enter")
	tm.Until("\n+line 21\n:")
	tm.Types("G")
	tm.Until("\n+line 100\n(END)")
	tm.Types("q")
	tm.Until("\n$")
	tm.Types("clear; cursord diff --no-pager", "Enter")
	tm.Until("\n+line 100\n$")
	tm.Types("clear; cursord diff | wc -l", "Enter")
	tm.Until("105\n$")
}

// TestTerminalRunThatWaits checks that a waiting run shows in one row what it waits for and how to stop. The row disappears
// later.
func TestTerminalRunThatWaits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.InitLine, world.Piece("Up."), `{"fake":"hang"}`)
	w.Start()
	e := w.Opens()
	first := e.Asks(world.Obj{"prompt": strings.Repeat("a long prompt ", 10)})
	tm := w.Terminal(t)
	tm.Types("clear; cursord run second; echo ended", "Enter")
	holds(tm, "… (Ctrl-C cancels this turn) waiting for the turn \"a long prompt")
	tm.Types("C-c")
	tm.Until("ended\n$")
	require.NotContains(t, tm.Screen(), "waiting")
	require.NotContains(t, tm.Screen(), "cancelling")

	// A silent turn shows that it works, and a cancelled turn that it ends.
	e.Must("turn/cancel", world.Obj{"turnId": first.ID}, nil)
	e.Ends(first.ID)
	w.Plays(world.InitLine, `{"fake":"ignore-signals"}`, `{"fake":"hang"}`)
	tm.Types("clear; cursord run third; echo ended", "Enter")
	holds(tm, "… working for ")
	tm.Types("C-c")
	holds(tm, "… cancelling")
	tm.Until("ended\n$")
	require.NotContains(t, tm.Screen(), "cancelling")
	require.NotContains(t, tm.Screen(), "working")
}

// TestMarkdownOnATerminal checks that the agent's Markdown is rendered on a terminal and left unchanged elsewhere.
func TestMarkdownOnATerminal(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	const said = "## Done\n\nI changed **two** files:\n\n- `a.go`\n- \u202eb.go\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	var pieces []string
	for piece := range strings.SplitAfterSeq(said, " ") {
		pieces = append(pieces, world.Streams(piece))
	}
	w.Plays(append(pieces, world.Done)...)
	w.Start()
	w.Joins().Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	const rendered = "Done\n\nI changed two files:\n\n• a.go\n• <U+202E>b.go\n\na  b\n─  ─\n1  2\n"
	plain := strings.ReplaceAll(said, "\u202e", "<U+202E>")

	tm := w.Terminal(t)
	for i, c := range []struct{ command, want string }{
		{"cursord run --quiet go", rendered},
		{"cursord show", rendered},
		{"cursord run --quiet go | cat", plain},
		{"NO_COLOR=1 cursord run --quiet go", plain},
		{"cursord show | cat", plain},
	} {
		over := "over " + strconv.Itoa(i)
		tm.Types("clear; "+c.command+"; echo "+over, "Enter")
		tm.Until("\n" + over + "\n$")
		require.Contains(t, tm.Screen(), c.want, c.command)
	}
	tm.Types("clear; TERM=dumb cursord chat", "Enter")
	holds(tm, plain+"— completed")
	tm.Types("C-d")
	tm.Until("\n$")
	tm.Types("clear; cursord chat", "Enter")
	holds(tm, rendered+"— completed")
}
