package atend

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestArguments puts the turn's facts into arguments: never as an option, never with line breaks, never as the program.
func TestArguments(t *testing.T) {
	t.Parallel()
	said := "-x --evil\nsecond \x1b[31m" + strings.Repeat("long ", 100)
	turn := &sessions.Turn{ID: "T", SessionID: "S", Workspace: "/w", Prompt: "do it", Status: sessions.TurnCompleted, Result: &said}
	got := Arguments([]string{"{title}", "{title}", "{summary}", "-{status}", "a {turn} {session} {workspace} {prompt} {other}"}, turn, "{summary}")
	require.Equal(t, "{title}", got[0], "the program is nobody's to name but the user's")
	require.Equal(t, "{summary}", got[1], "a value is no pattern")
	require.True(t, strings.HasPrefix(got[2], " -x --evil"), got[2])
	require.NotContains(t, got[2], "\n")
	require.NotContains(t, got[2], "\x1b")
	require.Less(t, len(got[2]), 250)
	require.Equal(t, "-completed", got[3])
	require.Equal(t, "a T S /w do it {other}", got[4])
	turn.Result = nil
	require.Equal(t, "completed", Arguments([]string{"x", "{summary}"}, turn, "")[1])
	turn.Error = &sessions.TurnError{Message: "no"}
	require.Equal(t, []string{"x", "no", "do it"}, Arguments([]string{"x", "{summary}", "{title}"}, turn, ""))
}

// TestAsked gives the command the approval's facts, as for a turn.
func TestAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	turn := &sessions.Turn{ID: "T", SessionID: "S", Workspace: dir, Prompt: "do it"}
	asked := &sessions.Approval{ID: "a-T", Kind: sessions.ApprovalPermission, Command: "rm -r\nx"}
	r := New(slog.New(slog.DiscardHandler))
	r.Asked([]string{"cp", "/dev/stdin", "asked.{approval}.{kind}.{turn}"}, asked, turn, "", "rm")
	r.Asked([]string{"touch", "{summary}"}, asked, turn, "", "-rm\n\x1b[31mx")
	r.Asked(nil, asked, turn, "", "")
	r.Close()
	raw, err := os.ReadFile(filepath.Join(dir, "asked.a-T.permission.T"))
	require.NoError(t, err)
	var got sessions.Approval
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Equal(t, asked.Command, got.Command)
	require.FileExists(t, filepath.Join(dir, " -rm x"))
}

// TestRun runs the command in the workspace with the turn's facts. Close waits for it, and a closed runner runs nothing.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	turn := &sessions.Turn{ID: "T", Workspace: dir, Prompt: "do it", Status: sessions.TurnFailed}
	r := New(slog.New(slog.DiscardHandler))
	r.Run([]string{"cp", "/dev/stdin", "told"}, turn, "")
	r.Run([]string{"no-such-program-anywhere"}, turn, "")
	r.Run(nil, turn, "")
	r.Close()
	raw, err := os.ReadFile(filepath.Join(dir, "told"))
	require.NoError(t, err)
	var told sessions.Turn
	require.NoError(t, json.Unmarshal(raw, &told))
	require.Equal(t, "do it", told.Prompt)
	r.Run([]string{"touch", "late"}, turn, "")
	require.NoFileExists(t, filepath.Join(dir, "late"))
}
