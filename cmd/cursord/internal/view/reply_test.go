package view

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestReplies: the answers to questions stand below them, and below a plan what was decided about it, live and in an export.
func TestReplies(t *testing.T) {
	question := &sessions.Item{ID: "q", Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{
		Name: "question", Title: "Ask Ask first?", Output: "Ask first?\n→ Yes\n\nWhich colour?\n→ (no answer)\n"}}
	accepted := &sessions.Item{ID: "a", Kind: sessions.ItemPlan, Status: sessions.ItemCompleted, Text: "do it", Tool: &sessions.Tool{Output: "The plan was accepted."}}
	rejected := &sessions.Item{ID: "r", Kind: sessions.ItemPlan, Status: "rejected", Text: "do it", Tool: &sessions.Tool{Error: "the plan was rejected: no tests"}}
	running := &sessions.Item{ID: "o", Kind: sessions.ItemPlan, Status: sessions.ItemRunning, Text: "do it", Tool: &sessions.Tool{}}
	for want, item := range map[string]*sessions.Item{
		"✓ Ask Ask first?\n  → Yes\n  Which colour?\n  → (no answer)\n": question,
		"do it\n✓ The plan was accepted.\n":                             accepted,
		"do it\n✗ the plan was rejected: no tests\n":                    rejected,
		"do it\n": running,
	} {
		var out bytes.Buffer
		s := NewScreen(&out, &out)
		s.Item(item)
		s.End()
		require.Equal(t, want, out.String())
	}
	var out bytes.Buffer
	(&Markdown{W: &out}).Item(rejected)
	require.Equal(t, "\n*Plan*\n\ndo it\n\n✗ the plan was rejected: no tests\n", out.String())
}

// TestShowsOnce: a person at a terminal who is asked about a plan that is on the screen is not shown its text again.
func TestShowsOnce(t *testing.T) {
	plan := &sessions.Item{ID: "p", Kind: sessions.ItemPlan, Status: sessions.ItemRunning, Text: "# do\n\nit", Tool: &sessions.Tool{}}
	asked := &sessions.Approval{Kind: sessions.ApprovalPlan, ItemID: "p", Detail: "# do\n\nit"}
	var out, errOut bytes.Buffer
	s := NewTerminal(&out, false)
	require.False(t, s.Shows(asked), "not yet")
	s.Item(plan)
	require.True(t, s.Shows(asked))
	s.Item(&sessions.Item{ID: "c", Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{Name: "read", Title: "Read"}})
	require.True(t, s.Shows(asked), "only a call stands between")
	longer := *asked
	longer.Detail += " again"
	require.False(t, s.Shows(&longer), "the item has not all of it")
	s.Item(&sessions.Item{ID: "w", Kind: sessions.ItemAssistant, Text: "or not"})
	require.False(t, s.Shows(asked), "the agent has said something else since")
	for _, s := range []*Screen{NewScreen(&out, &out), NewScreen(&out, &errOut)} {
		s.Item(plan)
		require.False(t, s.Shows(asked), "the transcript goes elsewhere, or to no terminal")
	}
}
