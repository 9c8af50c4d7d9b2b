//go:build unix

// Package acpdriver tests turns of sessions with the driver "acp", with the real daemon.
package acpdriver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

func TestMain(m *testing.M) { world.Main(m, nil) }

const newest = "CURSORD_FAKE_BUILD=2026.10.01-e373342"

// starts starts a world whose agent is of a build.
func starts(t *testing.T, env ...string) (*world.World, *world.Editor) {
	w := world.New(t)
	w.Start(append([]string{newest}, env...)...)
	t.Cleanup(func() { requireNothingRuns(w) })
	return w, w.Opens()
}

// agents lists the processes of a session's agent.
func agents(w *world.World, session string) []int {
	return world.Processes(w.T, "CURSORD_SOCKET="+w.Socket(), "CURSORD_SESSION_ID="+session)
}

// requireNothingRuns ends the daemon, and sees that its agents end with it.
func requireNothingRuns(w *world.World) {
	w.Stop()
	require.True(w.T, world.Comes(world.Patience, func() bool {
		for _, pid := range world.Processes(w.T, "CURSORD_SOCKET="+w.Socket()) {
			if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && strings.Contains(string(env), "CURSORD_SESSION_ID=") {
				return false
			}
		}
		return true
	}), "agents outlive their daemon")
}

var byACP = world.Obj{"driver": "acp"}

// TestTurns: a session's turns have one process, and its driver for good.
func TestTurns(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Plays(`{"fake":"say","text":"You asked: {{prompt}}"}`)
	first := e.Turn(byACP)
	require.Equal(t, sessions.TurnCompleted, first.Status, "%+v", first.Error)
	require.Equal(t, "acp", first.Driver)
	require.Equal(t, "You asked: do it", *first.Result)
	process := agents(w, first.SessionID)
	require.Len(t, process, 1)
	second := e.Turn(world.Obj{"sessionId": first.SessionID, "prompt": "more"})
	require.Equal(t, "You asked: more", *second.Result)
	require.Equal(t, process, agents(w, first.SessionID))
	require.Equal(t, []string{"You asked: more"}, e.Said(second.ID, sessions.ItemAssistant))

	refused := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "sessionId": first.SessionID, "driver": "print"})
	require.Equal(t, -32602, int(refused.Code))
	require.Contains(t, refused.Message, `is "acp" and cannot change`)
	require.Contains(t, e.Fails("session/update", world.Obj{"sessionId": first.SessionID, "driver": "print"}).Message, "cannot change")
	var status struct{ Drivers []string }
	e.Must("agent/status", world.Obj{}, &status)
	require.Equal(t, []string{"print", "acp"}, status.Drivers)

	other := e.Turn(nil)
	require.Equal(t, "print", other.Driver, "the default")
	e.Must("session/delete", world.Obj{"sessionId": first.SessionID}, nil)
	require.True(t, world.Comes(world.Patience, func() bool { return len(agents(w, first.SessionID)) == 0 }), "the process ends with its session")
}

// TestConfigured: the configuration chooses the driver of new sessions, and cursord run can, too.
func TestConfigured(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Start(newest)
	t.Cleanup(func() { requireNothingRuns(w) })
	e := w.Opens()
	w.Plays(`{"fake":"say","text":"Hello"}`, `{"fake":"finish"}`)
	require.Equal(t, "acp", e.Turn(nil).Driver)
	require.Equal(t, "print", e.Turn(world.Obj{"driver": "print"}).Driver)
	out, _, status := w.Cursord("run", "--driver", "print", "--json", "--workspace", w.Root, "x")
	require.Zero(t, status, out)
	require.Contains(t, out, `"driver":"print"`)
	_, stderr, status := w.Cursord("run", "--driver", "lsp", "x")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "must be print or acp")
	out, _, _ = w.Cursord("doctor")
	require.Contains(t, out, "a session keeps its driver")
}

// TestReview: all changes are reviewed, whether the agent reports their ends or not, by edits and by commands.
func TestReview(t *testing.T) {
	for _, build := range []string{"2026.02.13-41ac335", "2026.10.01-e373342"} {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Start("CURSORD_FAKE_BUILD=" + build)
			t.Cleanup(func() { requireNothingRuns(w) })
			w.Put("old.txt", "one\ntwo\n")
			w.Put("mine.txt", "mine\n")
			e := w.Opens()
			w.Plays(`{"fake":"edit","path":"old.txt","text":"one\nTWO\n"}`, `{"fake":"edit","path":"old.txt","text":"one\nTWO\nthree\n"}`,
				`{"fake":"edit","path":"new.txt","text":"new\n"}`, `{"fake":"shell","command":"sleep 0.2; echo made >made.txt"}`,
				`{"fake":"edit","path":"never.txt","text":"x","lost":true}`, `{"fake":"say","text":"Done."}`)
			turn := e.Turn(byACP)
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			diffs := e.Diffs()
			for _, path := range []string{"old.txt", "new.txt", "made.txt"} {
				require.Contains(t, diffs, path)
				require.NotContains(t, world.Vias(diffs[path]), "unknown", path)
			}
			require.NotContains(t, diffs, "mine.txt")
			require.NotContains(t, diffs, "never.txt")
			for _, item := range e.Items(turn.ID) {
				require.NotEqual(t, sessions.ItemRunning, item.Status)
				if item.Tool != nil && len(item.Tool.Paths) > 0 && item.Tool.Paths[0] == "never.txt" {
					require.Equal(t, sessions.ItemStatus("failed"), item.Status)
				}
			}
			e.Must("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
			require.Equal(t, "one\ntwo\n", w.Get("old.txt"))
			require.Equal(t, "(absent)", w.Get("new.txt"))
			require.Equal(t, "(absent)", w.Get("made.txt"))
		})
	}
}

// TestReviewOfBackgroundCommands: what a command writes that was left running is listed, though the agent does not say so in this mode, whether
// it ends before the turn or the turn waits for it. Such a change may be a person's.
func TestReviewOfBackgroundCommands(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"before the turn's end": true, "at the turn's end": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Start()
			t.Cleanup(func() { requireNothingRuns(w) })
			w.Put("f", "one\n")
			e := w.Opens()
			waits := `{"fake":"say","text":"Done."}`
			if before {
				waits = world.Waits("over")
			}
			w.Plays(`{"fake":"background","command":"while [ ! -e ../go ]; do sleep 0.05; done; echo late >>f; echo made >made; touch ../over"}`, waits, `{"fake":"say","text":"Done."}`)
			turn := e.Asks(byACP)
			if before {
				e.Until("the call", func(n world.Notification) bool {
					return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemCompleted
				})
			} else {
				e.Until("the wait", func(n world.Notification) bool { return n.Turn != nil && len(n.Turn.Background) > 0 })
			}
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			diffs := e.Diffs()
			for _, path := range []string{"f", "made"} {
				require.Contains(t, diffs, path)
				require.Equal(t, []string{"unknown"}, world.Vias(diffs[path]), path)
			}
		})
	}
}

// pending waits for an approval that nobody has answered.
func pending(e *world.Editor) (id string) {
	var list struct {
		Approvals []struct{ ID, Status string }
	}
	require.True(e.T, world.Comes(world.Patience, func() bool {
		e.Must("approval/list", world.Obj{"workspace": e.World.Root}, &list)
		return len(list.Approvals) > 0
	}), "nothing is asked")
	return list.Approvals[0].ID
}

// TestApprovals: a command runs when a person allows it. What a person saves meanwhile is theirs.
func TestApprovals(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Plays(`{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
	turn := e.Asks(byACP)
	id := pending(e)
	w.Put("mine.txt", "a person's\n")
	w.Rests() // else the save and the command's start could be in one tick of the file system's clock
	e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "allow-once"}, nil)
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	diffs := e.Diffs()
	require.Equal(t, []string{"shell"}, world.Vias(diffs["ran.txt"]))
	require.NotContains(t, diffs, "mine.txt")

	require.NoError(t, os.Remove(w.Path("ran.txt")))
	turn = e.Asks(byACP)
	e.Must("approval/answer", world.Obj{"approvalId": pending(e), "optionId": "reject-once"}, nil)
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Equal(t, "(absent)", w.Get("ran.txt"))
	calls := e.Items(turn.ID)
	require.True(t, strings.Contains(fmt.Sprint(calls[0].Status), "rejected"), "%+v", calls[0])
}

// TestCommandsInModesThatRead: a command that a person allows in a mode that is to change nothing is followed by a look, as everywhere.
func TestCommandsInModesThatRead(t *testing.T) {
	for _, mode := range []string{"plan", "ask"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.PutAll(world.Tree{"b.txt": "b\n", "mine.txt": "mine\n"})
			w.Plays(`{"fake":"shell","command":"rm b.txt; echo x >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
			turn := e.Asks(world.Obj{"driver": "acp", "mode": mode})
			id := pending(e)
			w.Put("mine.txt", "a person's\n")
			w.Rests()
			e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "allow-once"}, nil)
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			diffs := e.Diffs()
			require.Equal(t, []string{"b.txt", "ran.txt"}, world.Sorted(world.Keys(diffs)))
			require.Equal(t, []string{"shell"}, world.Vias(diffs["ran.txt"]))
			e.Must("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
			require.Equal(t, "b\n", w.Get("b.txt"))
			require.Equal(t, "(absent)", w.Get("ran.txt"))
			require.Equal(t, "a person's\n", w.Get("mine.txt"))
		})
	}
}

// TestEnds: turns that wait for a person end in every way, and nothing runs that nobody allowed.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(w *world.World, e *world.Editor, turn *sessions.Turn) sessions.TurnStatus{
		"cancel": func(_ *world.World, e *world.Editor, turn *sessions.Turn) sessions.TurnStatus {
			e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
			return sessions.TurnCancelled
		},
		"agent killed": func(w *world.World, _ *world.Editor, turn *sessions.Turn) sessions.TurnStatus {
			for _, pid := range agents(w, turn.SessionID) {
				require.NoError(w.T, syscall.Kill(pid, syscall.SIGKILL))
			}
			return sessions.TurnFailed
		},
		"client gone": func(_ *world.World, e *world.Editor, turn *sessions.Turn) sessions.TurnStatus {
			e.Client.Close()
			return sessions.TurnCompleted
		},
		"daemon killed": func(w *world.World, _ *world.Editor, turn *sessions.Turn) sessions.TurnStatus {
			w.Kill()
			w.Start(newest)
			return sessions.TurnInterrupted
		},
		"daemon ends": func(w *world.World, _ *world.Editor, turn *sessions.Turn) sessions.TurnStatus {
			w.Stop()
			w.Start(newest)
			return sessions.TurnInterrupted
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Plays(`{"fake":"say","text":"I would like to. "}`, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
			turn := e.Asks(byACP)
			pending(e)
			want := end(w, e, turn)
			e = w.Opens()
			if name == "client gone" { // the question is still there
				e.Must("approval/answer", world.Obj{"approvalId": pending(e), "optionId": "reject-once"}, nil)
			}
			var ended struct{ Turn *sessions.Turn }
			e.Must("turn/wait", world.Obj{"turnId": turn.ID}, &ended)
			require.Equal(t, want, ended.Turn.Status)
			require.Equal(t, "(absent)", w.Get("ran.txt"))
			var list struct{ Approvals []any }
			e.Must("approval/list", world.Obj{"workspace": w.Root}, &list)
			require.Empty(t, list.Approvals, "nobody can answer any more")
			var said api.Transcript
			e.Must("session/read", world.Obj{"sessionId": turn.SessionID}, &said)
			calls := 0
			for _, i := range said.Items {
				if i.Tool != nil {
					require.Equal(t, "echo ran >ran.txt", i.Tool.Command)
					calls++
				}
			}
			if want != sessions.TurnInterrupted { // a daemon that was killed cannot store it
				require.Equal(t, 1, calls, "the transcript has what was asked for")
			}

			w.Plays(`{"fake":"say","text":"Hello again"}`)
			next := e.Turn(world.Obj{"sessionId": turn.SessionID})
			require.Equal(t, sessions.TurnCompleted, next.Status, "%+v", next.Error)
			require.Equal(t, []string{"Hello again"}, e.Said(next.ID, sessions.ItemAssistant), "the replay is no text of the turn")
		})
	}
}

// TestChatIsGone: a turn of a session whose chat the agent has lost says so and begins another.
func TestChatIsGone(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Plays(`{"fake":"say","text":"Hello"}`)
	first := e.Turn(byACP)
	for _, pid := range agents(w, first.SessionID) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.True(t, world.Comes(world.Patience, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }), "the daemon has not heard of its end")
	}
	require.NoError(t, os.RemoveAll(w.Path("../.cursor/acp-sessions")))
	next := e.Turn(world.Obj{"sessionId": first.SessionID})
	require.Equal(t, sessions.TurnCompleted, next.Status, "%+v", next.Error)
	require.Contains(t, e.Notices(next.ID), "does not have this session's chat any more")
	require.Contains(t, e.Notices(next.ID), "ask again with the transcript as context: cursord run --recap --session "+first.SessionID)
}

// TestSteer adds to a running turn, or queues the text.
func TestSteer(t *testing.T) {
	for _, build := range []string{"2026.08.11-e8db854", "2026.10.01-e373342"} {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Start("CURSORD_FAKE_BUILD=" + build)
			t.Cleanup(func() { requireNothingRuns(w) })
			e := w.Opens()
			w.Plays(`{"fake":"say","text":"Go. "}`, `{"fake":"wait","path":"go"}`, `{"fake":"say","text":"End of {{prompt}}."}`)
			turn := e.Asks(byACP)
			e.Says("Go. ")
			var steered struct {
				Turn         *sessions.Turn
				QueuedTurnID string
			}
			e.Must("turn/steer", world.Obj{"turnId": turn.ID, "text": "and faster"}, &steered)
			require.Equal(t, turn.ID, steered.Turn.ID)
			w.Put("go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			if build < "2026.08.25" {
				require.NotEmpty(t, steered.QueuedTurnID)
				require.Contains(t, e.Notices(turn.ID), "as the next turn: and faster")
				queued := e.Ends(steered.QueuedTurnID)
				require.Equal(t, "and faster", queued.Prompt)
				require.Equal(t, sessions.TurnCompleted, queued.Status)
				return
			}
			require.Empty(t, steered.QueuedTurnID)
			require.Contains(t, e.Notices(turn.ID), "Added to this turn: and faster")
			e.Must("turn/steer", world.Obj{"turnId": turn.ID, "text": "too late"}, &steered)
			require.NotEmpty(t, steered.QueuedTurnID)
			require.Equal(t, "too late", e.Ends(steered.QueuedTurnID).Prompt)
			require.Equal(t, "text", e.Fails("turn/steer", world.Obj{"turnId": turn.ID, "text": " "}).Data.Field)
		})
	}
}
