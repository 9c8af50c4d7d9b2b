package fake

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFakeAgentKeepsPercentSigns has a percent sign in all that a call says.
func TestFakeAgentKeepsPercentSigns(t *testing.T) {
	const command = `printf '%s %d' a 1`
	var out strings.Builder
	run := &invocation{now: time.Now, session: "the %s session"}
	s := newStream(run, bufio.NewWriter(&out))
	id := s.started("shellToolCall", sprintJSON(`{"command":%s}`, command))
	s.completed("shellToolCall", id, sprintJSON(`{"command":%s}`, command), sprintJSON(`{"success":{"stdout":%s}}`, "%s"))
	for line := range strings.Lines(out.String()) {
		var message struct {
			Session string `json:"session_id"`
			Call    struct {
				Shell struct {
					Args   struct{ Command string }
					Result *struct{ Success struct{ Stdout string } }
				} `json:"shellToolCall"`
			} `json:"tool_call"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &message), line)
		require.Equal(t, run.session, message.Session)
		require.Equal(t, command, message.Call.Shell.Args.Command)
		if result := message.Call.Shell.Result; result != nil {
			require.Equal(t, "%s", result.Success.Stdout)
		}
	}
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
}
