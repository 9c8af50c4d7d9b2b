package agentcalls

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
)

// TestAfterwards: what changed after the first refused command had ended.
func TestAfterwards(t *testing.T) {
	var a Afterwards
	a.Saw("before", 5)
	require.Empty(t, a.Text())
	a.Ended(&agent.ToolEnd{State: agent.CallCompleted, Call: agent.Call{Title: "ls"}}, 1)
	a.Saw("allowed", 5)
	a.Ended(&agent.ToolEnd{State: agent.CallRejected, Call: agent.Call{Title: "make"}}, 10)
	a.Ended(&agent.ToolEnd{State: agent.CallRejected, Call: agent.Call{Title: "make again"}}, 20)
	a.Saw("within", 10)
	require.Empty(t, a.Text())
	a.Saw("f", 11)
	a.Saw("f", 12)
	const rest = " changed after the agent was refused this: make. No call explains that, so it counts as yours and is not under review. If it was not you, look at it with care."
	require.Equal(t, "f has"+rest, a.Text())
	for i := range seenMost + 1 {
		a.Saw(strconv.Itoa(i), 30)
	}
	require.Equal(t, "f and 999 other files or more have"+rest, a.Text())
	require.Len(t, a.seen, seenMost)
}
