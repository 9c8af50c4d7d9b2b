//go:build linux

package acp

import (
	"flag"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

var everyKill = flag.Bool("every-kill", false, "kill each of the three at each message, and not only one of them")

// TestKillsAtEachMessage kills the editor's agent ("cursord acp"), the daemon or cursor-agent at each message of a turn that edits, asks
// and runs a command. Every prompt is answered, no command runs that nobody allowed and none twice, nothing stays open, and the session
// goes on.
func TestKillsAtEachMessage(t *testing.T) {
	t.Parallel()
	messages := 0
	{
		k := newKill(t)
		mark := k.c.mark()
		require.Equal(t, "end_turn", k.c.stops(k.c.asks(k.session, "Do it")))
		messages = k.c.mark() - mark
		require.Equal(t, "ran\n", k.w.Get("ran"))
	}
	require.Greater(t, messages, 5)
	for i, whom := range []string{"editor", "daemon", "agent"} {
		for n := 1; n < messages; n++ {
			if n%3 != i && !*everyKill {
				continue
			}
			t.Run(fmt.Sprintf("%s at message %d", whom, n), func(t *testing.T) {
				t.Parallel()
				k := newKill(t)
				mark, seen := k.c.mark(), 0
				id := k.c.asks(k.session, "Do it")
				k.c.hears("the message", mark, func(m rpc.Message) bool {
					seen++
					return seen == n || m.IsResponse() && string(m.ID) == id
				})
				k.kill(whom)
				if whom != "editor" {
					if err := k.c.answers(id, nil); err != nil {
						require.ErrorAs(t, err, new(*rpc.Error), "an answer that says why")
					}
				}
				k.ends()
				if ran := k.w.Get("ran"); ran != "(absent)" {
					require.Contains(t, []string{"", "ran\n"}, ran, "not twice; the shell may be killed before it writes")
					require.True(t, k.allowed.Load(), "nobody has allowed it")
				}
				k.w.Plays(`{"fake":"say","text":"again"}`)
				if whom == "editor" {
					k.opens()
					k.c.must("session/load", world.Obj{"sessionId": k.session, "cwd": k.w.Root, "mcpServers": []any{}}, nil)
				}
				mark = k.c.mark()
				id = k.c.asks(k.session, "Once more")
				require.Equal(t, "end_turn", k.c.stops(id))
				require.Equal(t, "again", said(k.c.updates(k.session, mark, id), "agent_message_chunk"))
			})
		}
	}
}

// A kill is a world whose agent asks for a command, which the editor's person allows.
type kill struct {
	w       *world.World
	c       *client
	session string
	allowed atomic.Bool
}

func newKill(t *testing.T) *kill {
	w := world.New(t)
	k := &kill{w: w}
	w.PutAll(world.Tree{"../config.toml": "driver = \"acp\"\n", "f": "one\n"})
	w.Trusts()
	w.CursordOK("stop")
	w.Start()
	w.Plays(`{"fake":"say","text":"begun"}`, `{"fake":"edit","path":"f","text":"two\n"}`, `{"fake":"shell","command":"echo ran >>ran","ask":true}`,
		`{"fake":"say","text":"over"}`)
	k.opens()
	k.session = k.c.session()
	return k
}

func (k *kill) opens() {
	k.c = opens(k.w, nil)
	k.c.answering(func(m rpc.Message) any {
		k.allowed.Store(true)
		return selects("allow-once")
	})
}

func (k *kill) kill(whom string) {
	switch whom {
	case "editor":
		_ = k.c.cmd.Process.Kill()
		_, _ = k.c.cmd.Process.Wait()
	case "daemon":
		k.w.Kill()
		k.w.CursordOK("sessions", "-w", k.w.Root) // which begins the next one, if "cursord acp" has not
	case "agent":
		for _, pid := range world.Processes(k.w.T, "CURSORD_SOCKET="+k.w.Socket(), "CURSORD_SESSION_ID="+k.session) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// ends waits for the end of all turns. Another client says no to what is still asked.
func (k *kill) ends() {
	t := k.w.T
	t.Helper()
	e := k.w.Joins()
	defer e.Client.Close()
	require.True(t, world.Comes(world.Patience, func() bool {
		var list rpc.ApprovalList
		e.Must("approval/list", world.Obj{"workspace": k.w.Root}, &list)
		for _, a := range list.Approvals {
			_ = e.Call("approval/answer", world.Obj{"approvalId": a.ID, "optionId": "reject-once"}, nil) // it may be withdrawn meanwhile
		}
		var turns rpc.TurnList // none, if the editor was killed before its prompt had arrived
		e.Must("turn/list", world.Obj{"sessionId": k.session}, &turns)
		for _, turn := range turns.Turns {
			if !turn.Status.Final() {
				return false
			}
		}
		return len(list.Approvals) == 0
	}), "a turn is open for ever")
}
