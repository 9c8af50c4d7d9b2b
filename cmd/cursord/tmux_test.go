//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/review"
)

// A tmux is a real terminal with a shell in a workspace.
type tmux struct {
	t      *testing.T
	socket string
}

func (w *world) terminal(t *testing.T, env ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	tm := &tmux{t: t, socket: filepath.Join(w.dir, "tmux")}
	cmd := tm.command("-f", os.DevNull, "new-session", "-d", "-x", "90", "-y", "24", "sh")
	cmd.Dir = w.ws
	w.put("../shellrc", "PS1='$ '\n")
	cmd.Env = w.env(append(env, "TERM=screen", "ENV="+w.path("../shellrc"), "LC_ALL=C.UTF-8")...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { _ = tm.command("kill-server").Run() })
	tm.until("$")
	return tm
}

func (tm *tmux) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-u", "-S", tm.socket}, args...)...)
}

// types types text; names of keys, such as Enter, are the keys.
func (tm *tmux) types(keys ...string) {
	tm.t.Helper()
	out, err := tm.command(append([]string{"send-keys"}, keys...)...).CombinedOutput()
	require.NoError(tm.t, err, "%s", out)
}

// screen returns what is on the screen, without blanks at the ends of lines and empty lines at the end.
func (tm *tmux) screen() string {
	out, err := tm.command("capture-pane", "-p").Output()
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(out), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// until waits until the screen ends in a text.
func (tm *tmux) until(end string) {
	tm.t.Helper()
	var screen string
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for limit := time.Now().Add(patience); !strings.HasSuffix(screen, end); screen = tm.screen() {
		if time.Now().After(limit) {
			tm.t.Fatalf("the screen does not end in\n%s\nbut is\n%s", end, screen)
		}
		<-poll.C
	}
}

// holds waits until a text is on the screen.
func (tm *tmux) holds(text string) {
	tm.t.Helper()
	require.Eventually(tm.t, func() bool { return strings.Contains(tm.screen(), text) }, patience, 10*time.Millisecond, "no %q on the screen", text)
}

// TestTerminalReview walks through a review by single keys.
func TestTerminalReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := "one\ntotal = old(value)\n" + numbered(12, nil)
	now := "one\ntotal = new(value)\n" + numbered(12, map[int]string{8: "eight\x1b[2J\n"})
	w.put("a.txt", old)
	w.put("../editor", "#!/bin/sh\nprintf 'edit %s: ' \"$1\"\nread x\necho \"$x\" >>\"$2\"\n")
	require.NoError(t, os.Chmod(w.path("../editor"), 0o755))
	w.plays(lines(edits("1", "a.txt", old, now))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	tm := w.terminal(t, "VISUAL="+w.path("../editor"))
	ask := strings.TrimSpace(review.ReviewQuestion)
	first := "\n-total = old(value)\n+total = new(value)\n line 1\n line 2\n line 3\n" + ask
	part := "\n-total = old(value)\n·+total = new(value)\n line 1\n line 2\n" + ask
	second := "\n line 5\n line 6\n line 7\n-line 8\n+eight␛[2J\n line 9\n line 10\n line 11\n" + ask

	tm.types("cursord review", "Enter")
	tm.until(first)
	require.Contains(t, tm.screen(), "\na.txt (modified, +2 -2), hunk 1 of 2\n@@ -1,5 +1,5 @@ ")
	tm.types("Down")
	tm.until(second)
	tm.types("k")
	tm.until(first)
	tm.types("y")
	tm.until(second)
	require.Len(t, e.diffs()["a.txt"].Hunks, 1, "a key decides at once")
	tm.types("u")
	tm.until(first)
	tm.types("s")
	tm.until(part)
	tm.types("x")
	tm.until("? x\n\"x\" is no answer here; ? shows which are.\n" + ask)

	// A comment is a line; it shows while it is typed.
	tm.types("c")
	tm.until("\nComment:")
	tm.types("why t", "BSpace", "now")
	tm.until("\nComment: why now")
	tm.types("Enter")
	tm.until("\nThe agent gets this with its next prompt.\n" + ask)

	// The editor has the terminal as it usually is.
	tm.types("e")
	tm.until("\nedit +2:")
	tm.types("mine")
	tm.until("\nedit +2: mine")
	tm.types("Enter")
	tm.until(part)
	require.Equal(t, now+"mine\n", w.get("a.txt"))

	// The shell gets its terminal back while the review is in the background.
	tm.types("C-z")
	tm.until("\n$")
	tm.types("stty -a | grep -c -e -icanon", "Enter")
	tm.until("\n0\n$")
	tm.types("fg", "Enter")
	tm.until("\n" + ask)
	tm.types("d")
	tm.until("\nrejected 2, 1 comment; nothing left to review\n$")
	require.Equal(t, old+"mine\n", w.get("a.txt"))

	// However it ends, the terminal is as it was.
	w.plays(lines(edits("1", "b.txt", "(absent)", "b\n"))...)
	e.turn(nil)
	for _, key := range []string{"C-c", "q", "C-d"} {
		tm.types("clear; cursord review; echo status $?; stty -a | grep -c -e -icanon -e -echo\\ ", "Enter")
		tm.until("\n+b\n" + ask)
		tm.types(key)
		status := "status 0"
		if key == "C-c" {
			status = "status 130"
		}
		tm.until("\nnothing decided; 1 hunk left in 1 file\n" + status + "\n0\n$")
	}
}

// TestTerminalPager has a diff that is longer than the screen.
func TestTerminalPager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("there is no less")
	}
	w := newWorld(t)
	w.plays(lines(edits("1", "a.txt", "(absent)", numbered(100, nil)))...)
	w.start()
	w.opens().turn(nil)
	tm := w.terminal(t)
	tm.types("clear; cursord diff", "Enter")
	tm.until("\n+line 21\n:")
	tm.types("G")
	tm.until("\n+line 100\n(END)")
	tm.types("q")
	tm.until("\n$")
	tm.types("clear; cursord diff --no-pager", "Enter")
	tm.until("\n+line 100\n$")
	tm.types("clear; cursord diff | wc -l", "Enter")
	tm.until("105\n$")
}

// TestTerminalRunThatWaits shows on a terminal what a run waits for, in one row with what ends it, and leaves nothing of that there.
func TestTerminalRunThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(initLine, piece("Up."), `{"fake":"hang"}`)
	w.start()
	e := w.opens()
	first := e.asks(obj{"prompt": strings.Repeat("a long prompt ", 10)})
	tm := w.terminal(t)
	tm.types("clear; cursord run second; echo ended", "Enter")
	tm.holds("… (Ctrl-C gives up) waiting for the turn \"a long prompt")
	tm.types("C-c")
	tm.until("ended\n$")
	require.NotContains(t, tm.screen(), "waiting")
	require.NotContains(t, tm.screen(), "cancelling")

	// A turn that says nothing shows that it works, and one that is cancelled that it ends.
	e.must("turn/cancel", obj{"turnId": first.ID}, nil)
	e.ends(first.ID)
	w.plays(initLine, `{"fake":"ignore-signals"}`, `{"fake":"hang"}`)
	tm.types("clear; cursord run third; echo ended", "Enter")
	tm.holds("… working for ")
	tm.types("C-c")
	tm.holds("… cancelling")
	tm.until("ended\n$")
	require.NotContains(t, tm.screen(), "cancelling")
	require.NotContains(t, tm.screen(), "working")
}
