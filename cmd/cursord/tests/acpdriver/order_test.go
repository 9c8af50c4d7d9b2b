//go:build unix

package acpdriver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestWhatNobodyIsAskedStandsInOrder: the transcript has a call that is denied at once, and the notices about what the agent does, between the words
// before and after them.
func TestWhatNobodyIsAskedStandsInOrder(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	asks := func(call, options string) string {
		return `{"fake":"request","method":"session/request_permission","params":{"toolCall":` + call + `,"options":[` + options + `]}}`
	}
	w.Plays(
		`{"fake":"say","text":"A"}`, asks(`{"toolCallId":"none","kind":"execute","title":"make","rawInput":{"command":"make"}}`, ""), `{"fake":"say","text":"B"}`,
		asks(`{"toolCallId":"long","kind":"execute","rawInput":{"command":"`+strings.Repeat("x", 70_000)+`"}}`, `{"optionId":"y","name":"Yes","kind":"allow_once"}`),
		`{"fake":"say","text":"C"}`, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"another","update":{"sessionUpdate":"agent_message_chunk"}}}`,
		`{"fake":"say","text":"D"}`, `{"fake":"request","method":"cursor/fly","params":{}}`, `{"fake":"say","text":"E"}`,
	)
	turn := e.Asks(byACP)
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	var order []string
	for _, i := range e.Items(turn.ID) {
		said := i.Text
		if i.Tool != nil {
			said = string(i.Status)
		}
		for _, known := range []string{"Denied without asking", "another session", "does not know (cursor/fly)"} {
			if strings.Contains(said, known) {
				said = known
			}
		}
		if i.Kind == sessions.ItemAssistant { // it also says the answers that it gets
			said = said[len(said)-1:]
		}
		order = append(order, string(i.Kind)+" "+said)
	}
	require.Equal(t, []string{
		"assistant A", "tool rejected", "notice Denied without asking", "assistant B", "tool rejected", "notice Denied without asking",
		"assistant C", "notice another session", "assistant D", "notice does not know (cursor/fly)", "assistant E",
	}, order)
}
