package approvals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestWords: the whole command is shown, the first action does not allow, and titles lead back to their options.
func TestWords(t *testing.T) {
	t.Parallel()
	a := &sessions.Approval{ID: "k3-t", Title: "Run a command", Command: "rm -rf \x1b[2K\u202e" + strings.Repeat("x", 5000), Paths: []string{"a.go"}, Options: []sessions.ApprovalOption{
		{ID: "y", Label: "Yes", Kind: sessions.AllowOnce}, {ID: "w", Label: "Same", Kind: sessions.AllowAlways}, {ID: "n", Label: "No", Kind: sessions.RejectOnce}, {ID: "v", Label: "Same", Kind: sessions.RejectAlways},
	}}
	require.Equal(t, "The agent asks: Run a command\nrm -rf ␛[2K<U+202E>"+strings.Repeat("x", 5000)+"\na.go", Message(a))
	var titles, ids []string
	for _, action := range Actions(a) {
		titles, ids = append(titles, action.Title), append(ids, Chosen(a, action.Title))
	}
	require.Equal(t, []string{"No", "Same (4)", "Yes", "Same (2)"}, titles)
	require.Equal(t, []string{"n", "v", "y", "w"}, ids)
	for _, none := range []string{"", "Same", "yes", "y", "Maybe"} {
		require.Empty(t, Chosen(a, none), none)
	}
	require.Contains(t, Message(&sessions.Approval{ID: "k3-t", Title: "Why?", Text: true}), "cursord approve k3 --text")
	require.Empty(t, Actions(&sessions.Approval{}))
	require.Equal(t, "cursord approve k3, or cursord deny k3", Elsewhere(a))
	q := &sessions.Approval{ID: "k3-t", Kind: sessions.ApprovalQuestion, Text: true, Options: []sessions.ApprovalOption{{ID: "r", Label: "Red\x1b", Kind: sessions.AnswerOption}}}
	require.Equal(t, "cursord approve k3 1 (Red␛), cursord approve k3 --text …, cursord deny k3 (no answer)", Elsewhere(q))
}
