//go:build unix

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursord/agent"

	"github.com/stretchr/testify/require"
)

// TestQuestionsThatAskNothing: nobody is asked what cannot be answered, and a notice says that the agent asked.
func TestQuestionsThatAskNothing(t *testing.T) {
	t.Parallel()
	const (
		skipped  = `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"skipped","reason":"there was no question"}}}`
		rejected = `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"rejected","reason":"the plan has no text"}}}`
		question = "notice The agent asked a question in a form that cursord does not know (cursor/ask_question). It was told that there was no question, and goes on without an answer."
		plan     = "notice The agent asked whether to carry out a plan that has no text (cursor/create_plan). It was told no."
	)
	for _, test := range []struct{ method, params, answer, notice string }{
		{"cursor/ask_question", `{"question":"Q?"}`, skipped, question},
		{"_cursor/ask_question", `{"question":"Q?"}`, skipped, question},
		{"cursor/ask_question", `{"questions":[]}`, skipped, question},
		{"cursor/ask_question", `{"questions":"Q?"}`, skipped, question},
		{"cursor/ask_question", `{"questions":[null,{},{"id":"q","prompt":" "}]}`, skipped, question},
		{"cursor/ask_question", `null`, skipped, question},
		{"cursor/ask_question", `[]`, skipped, question},
		{"cursor/ask_question", `{"questions":[{"prompt":"Q?"}]}`, "", ""},
		{"cursor/ask_question", `{"questions":[{"options":[{"id":"o"}]}]}`, "", ""},
		{"cursor/ask_question", `{"title":"Q?","questions":[{}]}`, "", ""},
		{"cursor/create_plan", `null`, rejected, plan},
		{"_cursor/create_plan", `{}`, rejected, plan},
		{"cursor/create_plan", `{"name":"P","plan":" \n","todos":[]}`, rejected, plan},
		{"cursor/create_plan", `{"plan":" ","overview":"1. do it"}`, "", ""},
	} {
		c := newTalk(t, "/w")
		line := `{"jsonrpc":"2.0","id":1,"method":"` + test.method + `","params":` + test.params + `}`
		c.says(line)
		require.Equal(t, test.answer, c.hears(), line)
		if test.answer == "" {
			require.Len(t, c.asked(), 1, line)
			require.NotContains(t, c.transcript(), "notice", line)
			continue
		}
		c.says(line)
		require.Equal(t, test.answer, c.hears(), line)
		require.Equal(t, test.notice, c.transcript(), line)
	}
}

// TestAcceptedPlanIsCarriedOut: a turn in mode plan ended with the plan, and the person had to ask for the rest. It goes on in mode agent, unless the
// daemon does not let it, the agent does not answer as if it were done, or the turn is cancelled.
func TestAcceptedPlanIsCarriedOut(t *testing.T) {
	const plan = `{"fake":"plan","text":"1. write f"}` + "\n"
	for name, test := range map[string]struct {
		script string
		answer agent.ApprovalAnswer
		said   string
		wrote  bool
	}{
		"carried out":  {plan, agent.ApprovalAnswer{OptionID: "accept", CarryOut: true}, "Done.", true},
		"only planned": {plan, agent.ApprovalAnswer{OptionID: "accept"}, `notice The plan was accepted. This turn only plans`, false},
		"rejected":     {plan, agent.ApprovalAnswer{OptionID: "reject", CarryOut: true}, "the plan was rejected", false},
		"at a limit":   {plan + `{"fake":"stop","text":"max_tokens"}`, agent.ApprovalAnswer{OptionID: "accept", CarryOut: true}, "reached a limit", false},
		"by the agent": {plan + `{"fake":"raw","text":"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"{{session}}\",\"update\":{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"agent\"}}}\n"}`, agent.ApprovalAnswer{OptionID: "accept", CarryOut: true}, "Plan: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "2026.10.01-e373342", test.script)
			w.req.Mode = "plan"
			out := w.run(t.Context(), func(ev agent.Event) {
				if r, ok := ev.(agent.ApprovalRequested); ok {
					if test.wrote {
						w.script(`{"fake":"edit","path":"f","text":"{{prompt}}"}` + "\n" + `{"fake":"say","text":"Done."}` + "\n")
					}
					require.NoError(t, w.req.Control.Answer(r.ID, test.answer))
				}
			})
			require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
			require.Contains(t, w.said(), test.said)
			require.Equal(t, 1, strings.Count(w.said(), "asks "), w.said())
			_, err := os.Stat(filepath.Join(w.dir, "f"))
			require.Equal(t, test.wrote, err == nil)
			if test.wrote {
				require.Equal(t, planPrompt, w.get("f"))
				require.NotContains(t, w.said(), "only plans")
			}
		})
	}
}
