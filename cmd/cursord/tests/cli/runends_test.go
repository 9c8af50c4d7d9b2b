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
	"cursord/daemon/api"
	"cursord/sessions"
)

// A watched is a running "cursord run" whose agent has begun to speak.
type watched struct {
	*world.World
	e    *world.Editor
	turn *sessions.Turn
	send func(os.Signal)
	// again sends an interrupt, even if the run may have ended.
	again func()
	wait  func() int // returns the exit status
}

func (w *watched) said() string { return w.Get("../said") }

// watches starts a run whose agent says "Up." and hangs.
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

// isLeft requires that the run has printed how to show and cancel its turn, that the turn still runs, and that the printed
// command cancels it.
func (w *watched) isLeft() {
	w.T.Helper()
	require.Contains(w.T, w.said(), `the turn is left to the daemon, and may go on: "cursord show `+w.turn.SessionID+`" shows it`)
	require.Contains(w.T, w.said(), "\n  cursord cancel "+w.turn.ID+"\n")
	_, _, status := w.Cursord("cancel", w.turn.ID)
	require.Zero(w.T, status)
	require.Equal(w.T, sessions.TurnCancelled, w.e.Ends(w.turn.ID).Status)
}

// TestRunThatASignalEnds checks that SIGINT and SIGTERM cancel the turn of a run. SIGHUP leaves the turn to the daemon, and
// the run says so.
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

// TestRunThatIsInterruptedTwice checks that a second interrupt ends a run whose agent is slow to end.
func TestRunThatIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	w := watches(t, `{"fake":"ignore-signals"}`)
	w.send(os.Interrupt)
	// Signals that arrive together count as one. So the test repeats the interrupt until the run has ended.
	ended := make(chan int, 1)
	go func() { ended <- w.wait() }()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case status := <-ended:
			require.Equal(t, world.StatusCancelled, status, w.said())
			if strings.Contains(w.said(), "is left") { // otherwise the agent ended first
				w.isLeft()
			}
			return
		case <-again.C:
			w.again()
		}
	}
}

// TestRunThatTimeoutEnds checks that two signals at once, as timeout(1) sends them, count as one: the run waits for the turn's
// end. The agent ignores signals, so that the second comes before this end.
func TestRunThatTimeoutEnds(t *testing.T) {
	t.Parallel()
	w := watches(t, `{"fake":"ignore-signals"}`)
	w.send(syscall.SIGTERM)
	w.send(os.Interrupt) // another one, since a process may get two of the same kind as one
	require.Equal(t, world.StatusCancelled, w.wait(), w.said())
	require.NotContains(t, w.said(), "is left")
	require.Equal(t, sessions.TurnCancelled, w.e.Ends(w.turn.ID).Status)
}

// TestWaitOutlivesTheDaemon kills the daemon below a "cursord wait": it says what the next daemon knows of the turn, whose end nobody has
// seen.
func TestWaitOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	w := watches(t)
	wait := w.Command("wait", "-w", w.Root, w.turn.ID)
	out := new(strings.Builder)
	wait.Stdout, wait.Stderr = out, out
	require.NoError(t, wait.Start())
	t.Cleanup(func() { _ = wait.Process.Kill() })
	require.Eventually(t, func() bool {
		var now api.Status
		w.e.Must("daemon/status", world.Obj{}, &now)
		return now.Clients == 3 // with the run and the editor
	}, world.Patience, 10*time.Millisecond)
	w.Kill()
	require.Error(t, wait.Wait())
	require.Contains(t, out.String(), "cursord: the daemon stopped while the turn ran\n  go on with: cursord run --session "+w.turn.SessionID, out)
	require.NotContains(t, out.String(), "interrupted in ")
	require.NotContains(t, w.CursordOK("show"), "interrupted in ")
	require.NotRegexp(t, `interrupted  1 +\d`, w.CursordOK("sessions"))
}

// TestIgnoredAgent checks the note that the agent named by a client's environment is not the one that turns run.
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
