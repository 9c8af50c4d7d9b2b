//go:build unix

// Package approvals tests what agents ask people, by the real daemon, agents in ACP mode, and the commands with which people answer.
package approvals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

func TestMain(m *testing.M) { world.Main(m, nil) }

// asking makes a world whose agents can ask, with more settings.
func asking(t testing.TB, settings string, lines ...string) *world.World {
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n"+settings)
	w.Plays(lines...)
	w.Start()
	return w
}

// runs is a line of a script: a command that needs a permission, and leaves a file.
const runs = `{"fake":"shell","ask":true,"command":"echo ran >>ran"}`

// chats opens a terminal with the chat.
func chats(t *testing.T, w *world.World) *world.Tmux {
	t.Helper()
	tm := w.Terminal(t)
	tm.Types("cursord chat", "Enter")
	tm.Shows("Enter sends")
	return tm
}

// asked waits until an editor has a pending approval behind the first n notifications.
func asked(e *world.Editor) *sessions.Approval {
	e.T.Helper()
	return e.Until("an approval", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending
	}).Approval
}

// askedAtTerminal starts a command at a terminal, whose turn asks whether it may run something, and says "over" after the answer.
func askedAtTerminal(t *testing.T, command string) (*world.World, *world.Editor, *world.Tmux, *sessions.Approval) {
	t.Helper()
	w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	tm := w.Terminal(t)
	tm.Types(command, "Enter")
	a := asked(e)
	tm.Shows("e other answers")
	return w, e, tm, a
}

// ended waits until an editor knows how an approval has ended.
func ended(e *world.Editor, id string) *sessions.Approval {
	e.T.Helper()
	return e.Until("the end of "+id, func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.ID == id && n.Approval.Status != sessions.ApprovalPending
	}).Approval
}

func pending(e *world.Editor) []*sessions.Approval {
	e.T.Helper()
	var list rpc.ApprovalList
	e.Must("approval/list", world.Obj{"workspace": e.World.Root}, &list)
	return list.Approvals
}

// notRun requires that the command has not run.
func notRun(w *world.World) {
	w.T.Helper()
	require.Equal(w.T, "(absent)", w.Get("ran"), "a command ran that nobody allowed")
}
