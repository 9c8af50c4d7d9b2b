//go:build unix

package acp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/failure"
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

// TestResponsesWithoutAResult: a prompt with such a response is over, as one with null, and other requests fail.
func TestResponsesWithoutAResult(t *testing.T) {
	t.Parallel()
	for line, ends := range map[string]bool{
		`{"jsonrpc":"2.0","id":1}`:               true,
		`{"jsonrpc":"2.0","id":1,"method":null}`: true,
		`{"jsonrpc":"2.0","id":1,"result":null}`: true,
		`{"jsonrpc":"2.0","id":2}`:               false,
		`{"jsonrpc":"2.0"}`:                      false,
		`{"jsonrpc":"2.0","id":1,"method":7}`:    false,
		`{"jsonrpc":"2.0","id":1,"params":{}}`:   false,
	} {
		c := newTalk(t, "/w")
		c.turn.prompt("hi")
		c.says(line)
		c.turn.ended()
		if !ends {
			require.Len(t, c.p.calls, 1, line)
			require.Empty(t, c.transcript(), line)
			continue
		}
		require.Empty(t, c.p.calls, line)
		require.Equal(t, agent.Completed, c.turn.out.Status, line)
		require.Equal(t, "notice The agent has ended the turn without saying why. Look whether it is done.", c.transcript(), line)
	}

	for _, method := range []string{"initialize", "session/load", "session/set_mode"} {
		c := newTalk(t, "/w")
		var failed *failure.Error
		c.p.request(method, nothing{}, func(_ jsontext.Value, err error) {
			if err != nil {
				failed = c.p.failure(err)
			}
		})
		c.says(`{"jsonrpc":"2.0","id":1}`)
		require.NotNil(t, failed, method)
		require.Equal(t, "the agent answered "+method+" with neither a result nor an error", failed.Message)
		require.Equal(t, failure.KindProtocol, failed.Kind)
	}

	c := newTalk(t, "/w")
	answers := 0
	c.p.request("session/new", nothing{}, func(result jsontext.Value, err error) {
		require.NoError(t, err)
		require.True(t, result.IsNull(), "so that the session has no id, which is told")
		answers++
	})
	c.says(`{"jsonrpc":"2.0","id":1}`)
	require.Equal(t, 1, answers)
}
