package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestSent names what went with a prompt: only images were named.
func TestSent(t *testing.T) {
	t.Parallel()
	lines := func(from, to, character int) *sessions.Range {
		return &sessions.Range{Start: sessions.Position{Line: from}, End: sessions.Position{Line: to, Character: character}}
	}
	require.Equal(t, []string{"[file: a.py:1-2]", "[file: a.py:3]", "[selection: b/c:3-4]", "[file: /x/y]", "[text: stdin]", "[diagnostics: d]", "[text]"}, Sent(&sessions.Turn{
		Workspace: "/w", Context: []sessions.Sent{
			{Kind: "file", Path: "/w/a.py", Range: lines(0, 2, 0)}, {Kind: "file", Path: "/w/a.py", Range: lines(2, 3, 0)},
			{Kind: "selection", Path: "/w/b/c", Range: lines(2, 3, 5)}, {Kind: "file", Path: "/x/y"}, {Kind: "text", Title: "stdin"},
			{Kind: "diagnostics", Path: "/w/d"}, {Kind: "text"},
		},
	}))
}
