//go:build unix

package acpdriver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAcceptedPlanIsCarriedOut: the turn that has planned goes on in mode agent. It ended, and a notice told the person to ask for the rest.
func TestAcceptedPlanIsCarriedOut(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Put("f", "one\n")
	w.Plays(`{"fake":"plan","text":"1. change f"}`)
	turn := e.Asks(world.Obj{"driver": "acp", "mode": "plan"})
	require.Equal(t, sessions.ModePlan, turn.Mode)
	id := pending(e)
	w.Plays(`{"fake":"edit","path":"f","text":"two\n"}`, `{"fake":"say","text":"{{prompt}}"}`)
	e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "accept"}, nil)
	ended := e.Ends(turn.ID)
	require.Equal(t, sessions.TurnCompleted, ended.Status, "%+v", ended.Error)
	require.Equal(t, sessions.ModeAgent, ended.Mode)
	require.Contains(t, e.Said(turn.ID, sessions.ItemAssistant), "The plan was accepted. Carry it out.")
	require.NotContains(t, e.Notices(turn.ID), "only plans")
	require.Contains(t, e.Diffs(), "f")
	next := e.Turn(world.Obj{"sessionId": turn.SessionID})
	require.Equal(t, sessions.ModePlan, next.Mode, "the session's mode is the person's")
}

// TestAcceptedPlanBesideAWriter: no turn begins to write while another does, unless the configuration allows several.
func TestAcceptedPlanBesideAWriter(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Plays(`{"fake":"say","text":"I write."}`, world.Waits("over"))
	writer := e.Asks(byACP)
	e.Until("its words", func(n world.Notification) bool { return n.Item != nil && n.Item.TurnID == writer.ID })
	w.Plays(`{"fake":"plan","text":"1. change f"}`)
	turn := e.Asks(world.Obj{"driver": "acp", "mode": "plan"})
	e.Must("approval/answer", world.Obj{"approvalId": pending(e), "optionId": "accept"}, nil)
	ended := e.Ends(turn.ID)
	require.Equal(t, sessions.TurnCompleted, ended.Status, "%+v", ended.Error)
	require.Equal(t, sessions.ModePlan, ended.Mode)
	require.Contains(t, e.Notices(turn.ID), "This turn only plans")
	w.Put("../over", "")
	e.Ends(writer.ID)
}
