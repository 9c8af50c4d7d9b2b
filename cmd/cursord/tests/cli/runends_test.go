//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A watched is a run whose agent has begun to speak.
type watched struct {
	*world.World
	e    *world.Editor
	turn *sessions.Turn
	send func(os.Signal)
	// again sends an interrupt to a run that may have ended.
	again func()
	wait  func() int // for its exit status
}

func (w *watched) said() string { return w.Get("../said") }

// watches begins a run whose agent says "Up." and hangs.
func watches(t *testing.T, lines ...string) *watched {
	w := world.New(t)
	w.Plays(world.Playing(lines, []string{world.Piece("Up."), `{"fake":"hang"}`})...)
	w.Start()
	e := w.Opens()
	run := w.Command("run", "hello")
	out, err := os.Create(filepath.Join(w.Dir, "shown"))
	require.NoError(t, err)
	t.Cleanup(func() { out.Close() })
	errOut, err := os.Create(filepath.Join(w.Dir, "said"))
	require.NoError(t, err)
	t.Cleanup(func() { errOut.Close() })
	run.Stdout, run.Stderr = out, errOut
	require.NoError(t, run.Start())
	turn := e.Until("the turn", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning }).Turn
	require.Eventually(t, func() bool { return strings.Contains(w.Get("../shown"), "Up.") }, world.Patience, 10*time.Millisecond)
	return &watched{
		World: w, e: e, turn: turn,
		send:  func(s os.Signal) { require.NoError(t, run.Process.Signal(s)) },
		again: func() { _ = run.Process.Signal(os.Interrupt) },
		wait:  func() int { _ = run.Wait(); return run.ProcessState.ExitCode() },
	}
}

// isLeft sees that the run has said how to get back to its turn, which runs, and that what it names ends it.
func (w *watched) isLeft() {
	w.T.Helper()
	require.Contains(w.T, w.said(), `the turn is left to the daemon, and may go on: "cursord show `+w.turn.SessionID+`" shows it`)
	require.Contains(w.T, w.said(), "\n  cursord cancel "+w.turn.ID+"\n")
	_, _, status := w.Cursord("cancel", w.turn.ID)
	require.Zero(w.T, status)
	require.Equal(w.T, sessions.TurnCancelled, w.e.Ends(w.turn.ID).Status)
}

// TestRunThatASignalEnds has one rule for what ends a run: who asks it to end ends its turn, and whoever ends it otherwise leaves
// the turn to the daemon, and is told so.
func TestRunThatASignalEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		w := watches(t)
		w.send(sig)
		require.Equal(t, world.StatusCancelled, w.wait(), w.said())
		require.Equal(t, sessions.TurnCancelled, w.e.Ends(w.turn.ID).Status)
		require.NotContains(t, w.said(), "is left")
	}
	w := watches(t)
	w.send(syscall.SIGHUP)
	require.Equal(t, 129, w.wait(), w.said())
	w.isLeft()
}

// TestRunThatIsInterruptedTwice does not wait for an agent that takes its time to end.
func TestRunThatIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	w := watches(t, `{"fake":"ignore-signals"}`)
	w.send(os.Interrupt)
	// Signals that come together are one: the second is sent once the first has its effect, or has had all the time for that.
	ended := make(chan int, 1)
	go func() { ended <- w.wait() }()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case status := <-ended:
			require.Equal(t, world.StatusCancelled, status, w.said())
			if strings.Contains(w.said(), "is left") { // else the agent was faster
				w.isLeft()
			}
			return
		case <-again.C:
			w.again()
		}
	}
}

// TestIgnoredAgent notes that the agent which a client's environment names is not the one that turns run.
func TestIgnoredAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	w.Opens()
	other := w.Program("other/cursor-agent", w.Fake())
	run := func(agent string) string {
		c := w.Command("run", "hi")
		c.Env = append(c.Env, "CURSORD_AGENT="+agent)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	taken := filepath.Join(w.Dir, "agent")
	require.Contains(t, run(other), "cursord: CURSORD_AGENT ("+other+") is not used: the daemon that runs takes "+taken+" for cursor-agent")
	require.Contains(t, run(filepath.Join(w.Dir, "nowhere")), "nowhere) is not used")
	link := filepath.Join(w.Dir, "link")
	require.NoError(t, os.Symlink(taken, link))
	for _, same := range []string{taken, link, ""} {
		require.NotContains(t, run(same), "not used", same)
	}
}
