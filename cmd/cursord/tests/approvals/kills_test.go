//go:build linux

package approvals

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// The steps between what an agent asks and its command's end, at which somebody is killed.
const (
	unstored   = "the question is not on disk yet"
	waits      = "a person is asked"
	halfway    = "half of the answer is sent"
	unanswered = "the answer is taken, and not on disk yet"
	untold     = "the answer is on disk, and the agent has not read it"
	unsaid     = "the answer is on disk, the command runs, and nothing later is on disk"
	refused    = "the answer is on disk, and it is a no"
	running    = "the command runs"
)

// TestKills kills the client, the daemon or the agent at each step between a question and the end of its command. No command runs that
// nobody allowed, none runs twice, no answer is lost once it is on disk, and nothing stays open.
func TestKills(t *testing.T) {
	t.Parallel()
	const (
		ended   = sessions.ApprovalAnswered
		none    = sessions.ApprovalWithdrawn
		goes    = sessions.TurnCompleted
		fails   = sessions.TurnFailed
		stopped = sessions.TurnInterrupted
	)
	for _, c := range []struct {
		step, killed string
		approval     sessions.ApprovalStatus // "": it may be none at all
		turn         sessions.TurnStatus
		ran          bool
	}{
		{unstored, "daemon", "", stopped, false}, {unstored, "agent", "", fails, false},
		{waits, "client", ended, goes, false}, {waits, "daemon", none, stopped, false}, {waits, "agent", none, fails, false},
		{halfway, "client", ended, goes, false},
		{unanswered, "client", ended, goes, true}, {unanswered, "daemon", none, stopped, false}, {unanswered, "agent", ended, fails, false},
		{untold, "client", ended, goes, true}, {untold, "daemon", ended, stopped, false}, {untold, "agent", ended, fails, false},
		{unsaid, "daemon", ended, stopped, true}, {refused, "daemon", ended, stopped, false},
		{running, "client", ended, goes, true}, {running, "daemon", ended, stopped, true}, {running, "agent", ended, fails, true},
	} {
		t.Run(c.killed+", when "+c.step, func(t *testing.T) {
			t.Parallel()
			k := newKill(t)
			k.reach(c.step)
			k.kill(c.killed)
			if (c.step == waits || c.step == halfway) && c.killed == "client" { // somebody else says no
				require.Equal(t, k.approval.ID, pending(k.watcher)[0].ID, "it is lost")
				k.watcher.Must("approval/answer", world.Obj{"approvalId": k.approval.ID, "optionId": "reject-once"}, nil)
			}
			e := k.w.Opens()
			var turn struct{ Turn *sessions.Turn }
			e.Must("turn/wait", world.Obj{"turnId": k.turn.ID}, &turn)
			require.Equal(t, c.turn, turn.Turn.Status)
			require.False(t, turn.Turn.Waiting)
			require.Empty(t, pending(e))
			late := k.w.Joins()
			late.Must("workspace/subscribe", world.Obj{"workspace": k.w.Root, "after": 0}, nil)
			late.Must("turn/wait", world.Obj{"turnId": k.turn.ID}, nil) // behind all that the subscription brings
			latest := map[string]sessions.ApprovalStatus{}
			for _, n := range late.All() {
				if n.Approval != nil {
					latest[n.Approval.ID] = n.Approval.Status
				}
			}
			require.NotContains(t, fmt.Sprint(latest), string(sessions.ApprovalPending))
			require.LessOrEqual(t, len(latest), 1, "it was asked twice")
			if c.approval != "" {
				require.Equal(t, c.approval, latest[k.approval.ID])
			}
			if call := k.call(e); call != nil && c.killed == "daemon" && !call.StartedAt.Before(k.approval.CreatedAt.Time) { // else it counts as begun before the question
				want := sessions.ItemRejected
				if c.approval == ended && c.step != refused {
					want = sessions.ItemCancelled
				}
				require.Equal(t, want, call.Status, call.Tool.Error)
			}
			if c.ran {
				require.Equal(t, "ran\n", k.w.Get("ran"))
			} else {
				notRun(k.w)
			}
		})
	}
}

// call returns the call of the command that was asked for, which is in the transcript; nil if it cannot be told whether it was.
func (k *kill) call(e *world.Editor) *sessions.Item {
	t := k.w.T
	t.Helper()
	var read struct{ Items []*sessions.Item }
	e.Must("session/read", world.Obj{"sessionId": k.turn.SessionID}, &read)
	calls := slices.DeleteFunc(read.Items, func(it *sessions.Item) bool { return it.Kind != sessions.ItemTool })
	if k.approval == nil {
		require.LessOrEqual(t, len(calls), 1)
		return nil
	}
	require.Len(t, calls, 1)
	require.Equal(t, k.approval.Command, calls[0].Tool.Command)
	require.NotEqual(t, sessions.ItemRunning, calls[0].Status)
	return calls[0]
}

// A kill is a world whose agent asks for a command.
type kill struct {
	w                *world.World
	watcher, decider *world.Editor
	commits          string // the file with the fault of the database's commits
	turn             *sessions.Turn
	approval         *sessions.Approval
}

func newKill(t *testing.T) *kill {
	w := world.New(t)
	k := &kill{w: w, commits: "../commits"}
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put(k.commits, "")
	w.Plays(`{"fake":"wait","path":"../ask"}`, world.Execs("touch ../asks"),
		`{"fake":"shell","ask":true,"command":"echo ran >>ran; until test -e ../go; do sleep 0.02; done"}`, `{"fake":"say","text":"over"}`)
	k.start()
	k.turn = k.watcher.Asks(world.Obj{"prompt": "run it"})
	k.watcher.Until("the turn runs", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	return k
}

func (k *kill) start() {
	k.w.Start(undertest.CommitFault + "=" + filepath.Join(k.w.Dir, "commits"))
	k.watcher, k.decider = k.w.Opens(), k.w.Opens()
}

// agents returns the processes of the agent and its commands.
func (k *kill) agents() []int {
	return world.Processes(k.w.T, "CURSORD_SOCKET="+k.w.Socket(), "CURSORD_SESSION_ID="+k.turn.SessionID)
}

func (k *kill) signal(sig syscall.Signal) {
	for _, pid := range k.agents() {
		_ = syscall.Kill(pid, sig)
	}
}

// reach goes to a step. From waits on, the decider is the client that answers.
func (k *kill) reach(step string) {
	t := k.w.T
	t.Helper()
	if step == unstored {
		k.w.Put(k.commits, "hold")
		k.w.Put("../ask", "")
		k.w.Exists("../asks")
		return
	}
	k.w.Put("../ask", "")
	k.approval = asked(k.watcher)
	answer := world.Obj{"approvalId": k.approval.ID, "optionId": "allow-once"}
	switch step {
	case halfway:
		raw, err := net.Dial("unix", k.w.Socket())
		require.NoError(t, err)
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"approval/answer","params":{"approvalId":%q,"optionId":"allow-once"}}`, k.approval.ID)
		_, err = fmt.Fprintf(raw, "Content-Length: %d\r\n\r\n%s", len(body), body[:len(body)-1])
		require.NoError(t, err)
		require.NoError(t, raw.Close())
	case unanswered:
		k.w.Put(k.commits, "hold")
		go func() { _ = k.decider.Client.Call(t.Context(), "approval/answer", answer, nil) }()
		require.True(t, world.Comes(world.Patience, func() bool { return len(pending(k.watcher)) == 0 }))
	case untold:
		k.signal(syscall.SIGSTOP)
		k.decider.Must("approval/answer", answer, nil)
		ended(k.watcher, k.approval.ID)
	case unsaid:
		k.w.Put(k.commits, "one")
		k.decider.Must("approval/answer", answer, nil)
		require.True(t, world.Comes(world.Patience, func() bool { return strings.HasSuffix(k.w.Get("ran"), "\n") }))
	case refused:
		k.signal(syscall.SIGSTOP)
		k.decider.Must("approval/answer", world.Obj{"approvalId": k.approval.ID, "optionId": "reject-once"}, nil)
	case running:
		k.decider.Must("approval/answer", answer, nil)
		require.True(t, world.Comes(world.Patience, func() bool { return strings.HasSuffix(k.w.Get("ran"), "\n") }))
	}
}

// kill ends somebody, starts another daemon if it was the daemon, and lets everything else go on.
func (k *kill) kill(whom string) {
	switch whom {
	case "client":
		k.decider.Client.Close()
	case "agent":
		k.signal(syscall.SIGKILL)
	case "daemon":
		k.w.Kill()
	}
	k.w.Put(k.commits, "")
	k.w.Put("../go", "")
	if whom == "daemon" {
		k.start()
		return
	}
	k.signal(syscall.SIGCONT)
}
