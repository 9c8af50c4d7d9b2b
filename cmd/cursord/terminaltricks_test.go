package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/export"
	"cursord/cmd/cursord/internal/logs"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

// terminalTricks are characters that a terminal, or a person who reads, would take for something else.
const terminalTricks = "é\u0085\u009b31m\u007f \u202aa\u202eb\u2066c\u2069d\u200e\u200f\u061c 😀\ufffd<&>"

// TestJSONHasNoTerminalTricks has each command's JSON show such characters escaped, and mean the same.
func TestJSONHasNoTerminalTricks(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	holds := func(what string, is func() string) {
		t.Helper()
		text := b.String()
		require.NotEqual(t, "", text, what)
		require.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}), "%s: %q", what, text)
		require.Contains(t, text, `\u202e`, what)
		require.Contains(t, text, `\u009b`, what)
		require.Contains(t, text, "é", what)
		require.Equal(t, terminalTricks, is(), what)
		b.Reset()
	}

	require.NoError(t, term.PrintJSON(&b, rpc.DiffList{Diffs: []*sessions.Diff{{Path: terminalTricks}}}))
	holds("diff --json", func() string {
		var list rpc.DiffList
		require.NoError(t, json.Unmarshal(b.Bytes(), &list))
		return list.Diffs[0].Path
	})

	export.NewJSONLines(&b).Turn(&sessions.Turn{Prompt: terminalTricks})
	holds("export", func() string {
		var line struct{ Turn sessions.Turn }
		require.NoError(t, json.Unmarshal(b.Bytes(), &line))
		return line.Turn.Prompt
	})

	params, err := json.Marshal(rpc.LogMessage{Message: terminalTricks})
	require.NoError(t, err)
	view.NewFollower("t", nil, &b).Notify("log/message", params)
	holds("run --json", func() string {
		var line struct{ Params rpc.LogMessage }
		require.NoError(t, json.Unmarshal(b.Bytes(), &line))
		return line.Params.Message
	})

	logged, err := json.Marshal(map[string]string{"msg": terminalTricks})
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, append(logged, '\n'), 0o600))
	require.NoError(t, logs.Show(t.Context(), &b, log, 1, false, true))
	holds("logs --json", func() string {
		var line struct{ Msg string }
		require.NoError(t, json.Unmarshal(b.Bytes(), &line))
		return line.Msg
	})
}
