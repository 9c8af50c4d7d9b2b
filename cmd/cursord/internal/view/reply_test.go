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
		Name: "question", Title: "Ask first?", Output: "Ask first?\n→ Yes\n\nWhich colour?\n→ (no answer)\n"}}
	accepted := &sessions.Item{ID: "a", Kind: sessions.ItemPlan, Status: sessions.ItemCompleted, Text: "do it", Tool: &sessions.Tool{Output: "The plan was accepted."}}
	rejected := &sessions.Item{ID: "r", Kind: sessions.ItemPlan, Status: "rejected", Text: "do it", Tool: &sessions.Tool{Error: "the plan was rejected: no tests"}}
	running := &sessions.Item{ID: "o", Kind: sessions.ItemPlan, Status: sessions.ItemRunning, Text: "do it", Tool: &sessions.Tool{}}
	for want, item := range map[string]*sessions.Item{
		"✓ Ask first?\n  Ask first?\n  → Yes\n  Which colour?\n  → (no answer)\n": question,
		"do it\n✓ The plan was accepted.\n":                                       accepted,
		"do it\n✗ the plan was rejected: no tests\n":                              rejected,
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
