//go:build unix

package acp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// TestAgentsThatLoadNothing begin a new chat.
func TestAgentsThatLoadNothing(t *testing.T) {
	for _, how := range []string{"forgets", "forgets in silence"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "2026.10.01-e373342", builtin)
			w.req.Env = append(w.req.Env, "CURSORD_FAKE_ACP="+how)
			require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
			chat := w.req.Resume
			w.driver.Rest()
			out := w.run(t.Context(), nil)
			require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
			require.NotEqual(t, chat, w.req.Resume)
		})
	}
}

// TestAnotherVersionOfTheProtocol is not spoken.
func TestAnotherVersionOfTheProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2026.10.01-e373342", builtin)
	w.req.Env = append(w.req.Env, "CURSORD_FAKE_ACP=version2")
	out := w.run(t.Context(), nil)
	require.Equal(t, agent.Failed, out.Status)
	require.Equal(t, "the agent speaks version 2 of ACP, and cursord speaks version 1", out.Failure.Message)
	for answer, fails := range map[string]bool{`{}`: false, `{"protocolVersion":null}`: false, `{"protocolVersion":"1"}`: false, `{"protocolVersion":"new"}`: true} {
		require.Equal(t, fails, (&proc{}).initialized(jsontext.Value(answer)) != nil, answer)
	}
}

// TestOddStops: a turn that ends for no known reason is over, with a word about it.
func TestOddStops(t *testing.T) {
	t.Parallel()
	const silent = "notice The agent has ended the turn without saying why"
	for answer, want := range map[string]string{
		`{"stopReason":"end_turn"}`: "",
		`{"stopReason":"tired"}`:    "notice The agent has ended the turn for a reason that cursord does not know (tired). Look whether it is done.",
		`{"stopReason":7}`:          silent + " (its stopReason is 7). Look whether it is done.",
		`{"stopReason":null}`:       silent + ". Look whether it is done.",
		`{}`:                        silent + ". Look whether it is done.",
		`null`:                      silent + ". Look whether it is done.",
	} {
		c := newTalk(t, "/w")
		c.turn.prompts = 1
		c.turn.prompted(true, jsontext.Value(answer), nil)
		c.turn.finish()
		require.Equal(t, agent.Completed, c.turn.out.Status)
		require.Equal(t, want, c.transcript(), answer)
	}
}
