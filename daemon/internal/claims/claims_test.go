package claims

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/statusmessages"
	"cursord/sessions"
)

// TestClaims: a claim counts if it was there before the first turn, or when a person trusted the workspace.
func TestClaims(t *testing.T) {
	var stored []sessions.Op
	var messages []string
	running := false
	status := statusmessages.New()
	setup := Setup{
		Root: t.TempDir(), Home: t.TempDir(), Messages: status, Running: func() bool { return running },
		Store: func(op sessions.Op) { stored = append(stored, op) },
	}
	status.Read(func(_ slog.Level, text string) { messages = append(messages, text) }).Follow(setup.Root)
	c := New(setup, sessions.WorkspaceRecord{})
	require.True(t, c.count(".", "filter a"))
	c.Close()
	require.Equal(t, []sessions.Op{sessions.SetClaims{Hashes: []string{hashOf(".", "filter a")}}}, stored)
	c.Close()
	require.Len(t, stored, 1, "nothing is new")

	running = true
	require.True(t, c.count(".", "filter a"))
	require.False(t, c.count(".", "filter b"))
	require.False(t, c.count(".", "filter b"))
	require.False(t, c.count("sub", "filter a"), "another repository's")
	require.Empty(t, messages, "a turn says it")
	require.Contains(t, c.Take(), ": filter b; in sub: filter a. Look at them")
	require.Empty(t, c.Take())
	running = false
	require.False(t, c.count(".", "filter  c\n\xff"))
	require.Len(t, messages, 1)
	require.Contains(t, messages[0], ": filter c \uFFFD. Look at them")

	// The next daemon knows the claims that count; in a workspace with turns new ones do not count.
	c = New(setup, sessions.WorkspaceRecord{Claims: []string{hashOf(".", "filter a")}, Sessions: 1})
	require.True(t, c.count(".", "filter a"))
	require.False(t, c.count(".", "filter b"))
	c = New(setup, sessions.WorkspaceRecord{Sessions: 1})
	require.False(t, c.count(".", "filter a"))

	// Without trust in the workspace no claim counts.
	c = New(setup, sessions.WorkspaceRecord{})
	require.True(t, c.count(".", "filter a"))
	require.Equal(t, sessions.SetClaims{}, c.Trust(false))
	require.False(t, c.count(".", "filter a"))
	require.NotEmpty(t, status.Now())
	require.Equal(t, sessions.SetClaims{}, c.Trust(true), "there is no repository")
	require.Empty(t, status.Now())
}
