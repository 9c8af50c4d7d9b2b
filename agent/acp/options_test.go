//go:build unix

package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// optionAsks is a request for permission with these options, each an id and a kind.
func optionAsks(options ...string) string {
	var list []string
	for _, o := range options {
		id, kind, _ := strings.Cut(o, " ")
		list = append(list, `{"optionId":`+id+`,"kind":"`+kind+`"}`)
	}
	return `{"id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}},"options":[` +
		strings.Join(list, ",") + `]}}`
}

// TestOptionsThatShareAnID: none of them is offered, so that no answer is taken for another one.
func TestOptionsThatShareAnID(t *testing.T) {
	t.Parallel()
	many := []string{`"a" reject_once`}
	for len(many) < maxOptions {
		many = append(many, `"x`+strings.Repeat("x", len(many))+`" allow_once`)
	}
	for name, test := range map[string]struct {
		options []string
		offered []string // ids
	}{
		"a no that is a yes":           {[]string{`"a" reject_once`, `"a" allow_once`}, []string{noID}},
		"a yes that is a no":           {[]string{`"a" allow_once`, `"a" reject_once`}, []string{noID}},
		"in other words":               {[]string{`"a" reject_once`, `"\u0061" allow_once`}, []string{noID}},
		"beside others":                {[]string{`"a" reject_once`, `"y" allow_once`, `"a" allow_always`}, []string{"y", noID}},
		"two refusals":                 {[]string{`"a" reject_once`, `"y" allow_once`, `"a" reject_always`}, []string{"y", noID}},
		"of an unknown kind":           {[]string{`"a" reject_once`, `"y" allow_once`, `"a" allow_forever`}, []string{"y", noID}},
		"numbers":                      {[]string{`5 reject_once`, `5.0 allow_once`}, []string{noID}},
		"a number and a text":          {[]string{`"5" reject_once`, `5 allow_once`}, []string{noID}},
		"behind the last that is read": {append(many[:len(many):len(many)], `"a" allow_once`), nil},
		"ours":                         {[]string{`"cursord-no" allow_once`}, []string{noID}},
		"none":                         {[]string{`"n" reject_once`, `"y" allow_once`}, []string{"n", "y"}},
	} {
		c := newTalk(t, "/w")
		c.says(optionAsks(test.options...))
		require.Len(t, c.asked(), 1, name)
		r := c.asked()[0]
		if test.offered != nil {
			var ids []string
			for _, o := range r.Options {
				ids = append(ids, o.ID)
			}
			require.Equal(t, test.offered, ids, name)
		}
		no := r.Refusal()
		require.NoError(t, c.turn.answer("a1", no))
		want := `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}`
		if no.OptionID == "n" {
			want = `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}`
		}
		require.Equal(t, want, c.hears(), name)
		require.NotContains(t, c.transcript(), "start", name)
	}
}

// TestIDsThatAreNoTexts: the agent gets its ids as it wrote them, of options and of questions.
func TestIDsThatAreNoTexts(t *testing.T) {
	t.Parallel()
	for id, name := range map[string]string{`5`: "5", `-1.50`: "-1.50", `"5"`: "5", `"\u00e9"`: "é", `"\ud800"`: "\ufffd"} {
		c := newTalk(t, "/w")
		c.says(optionAsks(id + " allow_once"))
		require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: name}))
		heard := c.hears()
		require.Contains(t, heard, `"outcome":"selected"`, id)
		require.Equal(t, id, string(jsontext.Value(heard).Get("result").Get("outcome").Get("optionId")))

		c = newTalk(t, "/w")
		c.says(`{"id":7,"method":"cursor/ask_question","params":{"questions":[{"id":` + id + `,"prompt":"Q?","options":[{"id":` + id + `}]}]}}`)
		require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: name}))
		require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"answered","answers":[{"questionId":`+id+`,"selectedOptionIds":[`+id+`]}]}}}`, c.hears())
	}
	c := newTalk(t, "/w")
	c.says(`{"id":7,"method":"cursor/ask_question","params":{"questions":[{"prompt":"Q?"}]}}`)
	require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{Text: "5"}))
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"answered","answers":[{"questionId":"","selectedOptionIds":["5"]}]}}}`, c.hears())

	for _, id := range []string{`true`, `null`, `{}`, `["y"]`, `""`} {
		c := newTalk(t, "/w")
		c.says(optionAsks(id + " allow_once"))
		require.Equal(t, []agent.ApprovalOption{{ID: noID, Label: "Reject", Kind: agent.RejectOnce}}, c.asked()[0].Options)
	}
}

// TestSeveralAnswers: where the agent takes several options, a text names them.
func TestSeveralAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[agent.ApprovalAnswer]string{
		{OptionID: "b"}:              `"answered","answers":[{"questionId":"q","selectedOptionIds":["b"]}]`,
		{Text: "1, 3"}:               `"answered","answers":[{"questionId":"q","selectedOptionIds":["a",7]}]`,
		{Text: "seven,API,,a"}:       `"answered","answers":[{"questionId":"q","selectedOptionIds":[7,"a"]}]`,
		{OptionID: "b", Text: "1"}:   `"answered","answers":[{"questionId":"q","selectedOptionIds":["b","a"]}]`,
		{Text: "1, 9"}:               `"skipped","reason":"nobody answered"`,
		{Text: "all"}:                `"skipped","reason":"nobody answered"`,
		{Text: "1", Cancelled: true}: `"skipped","reason":"nobody answered"`,
	} {
		c := newTalk(t, "/w")
		c.says(`{"id":7,"method":"cursor/ask_question","params":{"questions":[{"id":"q","prompt":"Which?","allowMultiple":true,` +
			`"options":[{"id":"a","label":"api"},{"id":"b","label":"cli"},{"id":7,"label":"seven"}]}]}}`)
		require.Contains(t, c.asked()[0].Detail, `"1, 2"`)
		require.True(t, c.asked()[0].Text)
		require.NoError(t, c.turn.answer("a1", answer))
		require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":`+want+`}}}`, c.hears(), "%+v", answer)
	}
	c := newTalk(t, "/w")
	c.says(`{"id":7,"method":"cursor/ask_question","params":{"questions":[{"prompt":"Which?","allowMultiple":true,"options":[{"id":"a"}]}]}}`)
	require.False(t, c.asked()[0].Text, "one option is one answer")
}

// TestLabelsThatSayTheOpposite: a person who presses "Reject" must not allow the call.
func TestLabelsThatSayTheOpposite(t *testing.T) {
	t.Parallel()
	for label, want := range map[string][2]string{ // as a yes, and as a no
		"Allow once":                    {"Allow once", "Allow once (a no)"},
		"Always":                        {"Always", "Always (a no)"},
		"Yes, and don't ask again":      {"Yes, and don't ask again (a yes)", "Yes, and don't ask again"},
		"Reject":                        {"Reject (a yes)", "Reject"},
		"No, never":                     {"No, never (a yes)", "No, never"},
		"NOT NOW":                       {"NOT NOW (a yes)", "NOT NOW"},
		"Weiter":                        {"Weiter (a yes)", "Weiter (a no)"},
		"":                              {"once (a yes)", "once (a no)"},
		"Notify me, and allow it":       {"Notify me, and allow it", "Notify me, and allow it (a no)"},
		"Always reject in this project": {"Always reject in this project (a yes)", "Always reject in this project"},
	} {
		for i, kind := range []string{"allow_once", "reject_once"} {
			c := newTalk(t, "/w")
			c.says(`{"id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}},"options":[` +
				`{"optionId":"once","name":` + string(jsontext.Quote(label)) + `,"kind":"` + kind + `"}]}}`)
			require.Equal(t, want[i], c.asked()[0].Options[0].Label)
		}
	}
}
