//go:build unix

package life

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestKilledDaemon kills the daemon at many moments of a turn. After the next start every object is there that a client had
// got with a seq, and nothing still runs.
func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	for _, moment := range []struct {
		name string
		fits func(world.Notification) bool
		told []string // texts that must survive the kill
	}{
		{"the turn is told", func(n world.Notification) bool { return n.Turn != nil && n.Turn.ID == "running" }, nil},
		{"it runs", func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.Status == sessions.TurnRunning && n.Turn.ID == "running"
		}, nil},
		{"text was kept", func(n world.Notification) bool {
			return n.Item != nil && n.Item.TurnID == "running" && n.Item.Index == 2
		}, []string{"Hm", "I look."}},
		{"a tool runs", func(n world.Notification) bool {
			return n.Item != nil && n.Item.TurnID == "running" && n.Item.Tool != nil && n.Item.Tool.CallID == "open"
		}, []string{"Hm", "I look."}},
		{"text grows", func(n world.Notification) bool { return n.Method == "item/delta" && strings.Contains(n.Text, "more") }, []string{"Hm", "I look."}},
	} {
		t.Run(moment.name, func(t *testing.T) {
			w := world.New(t)
			w.Start()
			e := w.Opens()
			w.Plays(world.Talk()...)
			before := e.Turn(world.Obj{"turnId": "before"})
			w.Plays(world.InitLine, world.Thinks("Hm"), world.ThoughtEnd, world.Flush("I look."), world.Started("c", world.ReadArgs), `{"fake":"write","path":"b.txt","text":"b\n"}`, world.Completed("c", world.ReadDone),
				world.Started("open", world.Sleep2), world.Piece("more"), `{"fake":"sleep","ms":400}`, world.Piece(" and more"), `{"fake":"hang"}`)
			e.Asks(world.Obj{"turnId": "running", "sessionId": before.SessionID})
			e.Asks(world.Obj{"turnId": "waits", "sessionId": before.SessionID})
			e.Asks(world.Obj{"turnId": "waits too"})
			e.Until(moment.name, moment.fits)
			w.Kill()
			<-e.Client.Done()
			told := e.All()
			agents := world.Processes(t, "CURSORD_SOCKET="+w.Socket(), "CURSORD_TURN_ID=running")

			w.Start()
			e = w.Opens()
			require.Empty(t, world.Processes(t, "CURSORD_SOCKET="+w.Socket(), "CURSORD_TURN_ID=running"), "of %d agents", len(agents))
			other := w.Joins()
			other.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			w.Plays(world.Talk()...)
			e.Turn(world.Obj{"turnId": "last", "sessionId": before.SessionID, "prompt": "go on"})
			runs := w.Runs()
			require.Equal(t, []string{"--resume", runs[0].Session}, runs[len(runs)-1].Args[len(runs[len(runs)-1].Args)-2:])
			other.Ends("last")
			now := world.Newest(other.All())
			for key, seq := range world.Newest(told) {
				require.GreaterOrEqual(t, now[key], seq, key)
			}
			for _, id := range []string{"running", "waits", "waits too"} {
				turn := other.Ends(id)
				require.Equal(t, sessions.TurnInterrupted, turn.Status)
				require.NotNil(t, turn.EndedAt)
			}
			var texts []string
			for _, n := range other.All() {
				if n.Item != nil && n.Item.TurnID == "running" {
					require.NotEqual(t, sessions.ItemRunning, n.Item.Status)
					require.NotNil(t, n.Item.EndedAt)
					if n.Item.Text != "" {
						texts = append(texts, n.Item.Text)
					}
				}
				if n.Session != nil && n.Session.ID != before.SessionID {
					require.Equal(t, sessions.SessionIdle, n.Session.State)
				}
			}
			require.Subset(t, texts, moment.told)
			require.NotContains(t, strings.Join(texts, "\n"), "may not be listed", "the start has looked for the command's changes")
			require.Equal(t, []string{`thinking completed "Hm"`, `assistant completed "I look."`, `tool completed read/read "c" out="A"`,
				`assistant completed "Done."`}, other.Describe("before"))
		})
	}
}

// TestNothingToCompareWith: no start looks for what a killed turn has changed in a folder that has become a repository since. So a notice names
// the call that was open.
func TestNothingToCompareWith(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, world.Started("open", world.Sleep2), `{"fake":"hang"}`)
	turn := e.Asks(nil)
	e.Until("the command", func(n world.Notification) bool { return n.Item != nil && n.Item.Tool != nil })
	w.Kill()
	w.Git("init", "-q")
	w.Start()
	e = w.Joins()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	e.Ends(turn.ID)
	require.Equal(t, "The daemon was killed while this ran: sleep 2. Its changes may not be listed for review.", e.Notices(turn.ID))
}

// TestCheckpoint kills the daemon while text grows: at most the text of the last quarter second is lost.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	lines := []string{world.InitLine}
	for i := range 200 {
		lines = append(lines, world.Piece(fmt.Sprintf("%d,", i)), `{"fake":"sleep","ms":10}`)
	}
	w.Plays(append(lines, `{"fake":"hang"}`)...)
	turn := e.Asks(nil)
	e.Until("the last text", func(n world.Notification) bool { return strings.HasSuffix(n.Text, "199,") })
	grown := time.Now()
	w.Kill()
	<-e.Client.Done()
	told := ""
	old := ""
	for _, n := range e.All() {
		told += n.Text
		if n.Method == "item/delta" && grown.Sub(n.At) > 1200*time.Millisecond { // the interval of checkpoints, and time for one on a busy machine
			old = told
		}
	}
	w.Start()
	e = w.Opens()
	e.Ends(turn.ID)
	var page struct{ Items []*sessions.Item }
	e.Must("session/read", world.Obj{"sessionId": turn.SessionID}, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, sessions.ItemCancelled, page.Items[0].Status)
	require.True(t, strings.HasPrefix(told, page.Items[0].Text))
	require.True(t, strings.HasPrefix(page.Items[0].Text, old), "%q has less than %q", page.Items[0].Text, old)
	require.NotEmpty(t, old)
}

// TestStoppedDaemon stops the daemon by a signal or a request: clients get the end of every turn before their connections
// end.
func TestStoppedDaemon(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"signal", "request", "stubborn agent"} {
		t.Run(how, func(t *testing.T) {
			w := world.New(t)
			w.Start()
			e := w.Opens()
			lines := []string{world.InitLine, world.Piece("Half"), world.Started("open", world.Sleep2), `{"fake":"hang"}`}
			if how == "stubborn agent" {
				lines = slices.Insert(lines, 1, `{"fake":"ignore-signals"}`)
			}
			w.Plays(lines...)
			running, queued := e.Asks(nil), e.Asks(nil)
			e.Until("the tool", func(n world.Notification) bool { return n.Item != nil && n.Item.Tool != nil })
			waits := make(chan error, 1)
			go func() {
				var ended struct{ Turn *sessions.Turn }
				err := e.Call("turn/wait", world.Obj{"turnId": running.ID}, &ended)
				if err == nil && ended.Turn.Status != sessions.TurnInterrupted {
					err = fmt.Errorf("%s", ended.Turn.Status)
				}
				waits <- err
			}()
			failed := e.Fails("daemon/stop", world.Obj{})
			require.Equal(t, -32002, failed.Code)
			if how == "request" {
				e.Must("daemon/stop", world.Obj{"force": true}, nil)
			} else {
				require.NoError(t, w.Cmd.Process.Signal(syscall.SIGTERM))
			}
			<-e.Client.Done()
			require.Equal(t, sessions.TurnInterrupted, e.Ends(running.ID).Status)
			require.Equal(t, sessions.TurnInterrupted, e.Ends(queued.ID).Status)
			require.Equal(t, []string{`assistant completed "Half"`, `tool cancelled shell/shell "open"`}, e.Describe(running.ID))
			require.NoError(t, <-waits)
			world.Audit(t, e.All())
			require.Empty(t, world.Processes(t, "CURSORD_TURN_ID="+running.ID))
			<-w.Ended
			w.Start()
			other := w.Joins()
			other.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			other.Ends(running.ID)
			require.Equal(t, world.Newest(e.All()), world.Newest(other.All()))
		})
	}
}

// TestCancelledBeforeTheStop cancels a turn whose agent ignores signals, and then stops the daemon: the turn is cancelled,
// not interrupted.
func TestCancelledBeforeTheStop(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(`{"fake":"ignore-signals"}`, world.Piece("Ready"), `{"fake":"hang"}`)
	turn := e.Asks(nil)
	e.Until("the agent", func(n world.Notification) bool { return n.Method == "item/delta" })
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	require.NoError(t, w.Cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
	<-e.Client.Done()
}

// TestStartAgain starts the next daemon right after each kill.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	for range 5 {
		w.Start()
		e := w.Joins()
		var status struct{ PID int }
		e.Must("daemon/status", nil, &status)
		require.Equal(t, w.Cmd.Process.Pid, status.PID)
		w.Kill()
	}
}
