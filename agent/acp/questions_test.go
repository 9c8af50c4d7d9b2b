//go:build unix

package acp

import (
	"testing"

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
