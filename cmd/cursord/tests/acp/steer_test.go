//go:build unix

package acp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestSteer adds to a running turn of an agent that takes texts while it works.
func TestSteer(t *testing.T) {
	t.Parallel()
	w := world.Steered(t)
	c := opens(w, nil)
	s := c.session()
	require.Contains(t, said(c.goesThrough(s, "/steer"), "agent_message_chunk"), "needs a text behind it")
	require.Contains(t, said(c.goesThrough(s, "/steer faster"), "agent_message_chunk"), "No turn runs in this session")
	id := c.asks(s, "begin")
	c.update(0, "Go. ")
	require.Contains(t, said(c.goesThrough(s, "/steer and faster"), "agent_message_chunk"), "The running turn has been told.")
	c.update(0, "Added to this turn: and faster")
	w.Put("go", "")
	require.Equal(t, "end_turn", c.stops(id))
}

// TestSteerWaits: where the agent takes nothing while it works, the text is the next prompt.
func TestSteerWaits(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	s := c.session()
	id := c.asks(s, "begin")
	c.update(0, "begun")
	require.Contains(t, said(c.goesThrough(s, "/steer and quickly"), "agent_message_chunk"), "this is the next prompt of the session")
	w.Put("../go", "")
	require.Equal(t, "end_turn", c.stops(id))
	c.update(0, "user_message_chunk", "and quickly")
}
