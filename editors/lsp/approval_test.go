package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/paths"
	"cursord/editors/lsp/client"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// TestQuestionsWaitForAPauseInTyping: a question comes up when nobody types. One that was closed comes once more after the next pause,
// and a diagnostic tells of it until it is answered.
func TestQuestionsWaitForAPauseInTyping(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	s := newServer(t.Context(), &out, Options{Version: "test", StateDir: filepath.Join(dir, "state"), Dial: newSilent, Log: slog.New(slog.DiscardHandler)})
	s.client = client.New(&client.Capabilities{})
	s.client.Questions = true
	s.phase, s.roots = serving, []string{paths.URI(dir)}
	pause := func() {}
	s.typing.After = func(_ time.Duration, f func()) *time.Timer { pause = f; return nil }
	s.begin()
	defer s.daemon.close()
	w, uri, version := s.folders[0], paths.URI(filepath.Join(dir, "f")), 0
	var open protocol.DidOpenParams
	open.TextDocument.URI, open.TextDocument.Text = uri, "one\ntwo\n"
	s.didOpen(&open)
	types := func() {
		version++
		var change protocol.DidChangeParams
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"text":"one\ntwo%s\n"}]}`, uri, version, "!!!!!!!!"[:version]), &change))
		s.didChange(&change)
	}
	tells := func(status string) {
		s.heard("approval/changed", fmt.Appendf(nil, `{"workspace":%q,"seq":1,"approval":{"id":"a-t","turnId":"t","sessionId":"s","workspace":%[1]q,"kind":"permission","title":"Run",
			"command":"make","text":false,"status":%q,"options":[{"id":"y","label":"Yes","kind":"allowOnce"},{"id":"n","label":"No","kind":"rejectOnce"}]}}`, w.path, status))
	}
	onScreen := func() string { return w.asks.Get("a-t").Request }
	closes := func(answer string) {
		s.take(rpc.Message{ID: json.RawMessage(onScreen()), Result: json.RawMessage(answer)})
	}
	types()
	tells("pending")
	require.Empty(t, onScreen())
	late := pause
	types()
	late() // the timer of a change before the last one
	require.Empty(t, onScreen())
	pause()
	require.NotEmpty(t, onScreen())
	require.Empty(t, s.diagnosticsAt(w, uri))

	closes("null")
	list := s.diagnosticsAt(w, uri)
	require.Len(t, list, 1)
	require.Equal(t, "the agent waits for your answer (cursord.approvals): $ make", list[0].Message)
	require.Equal(t, 1, list[0].Range.Start.Line)
	types()
	require.Empty(t, onScreen())
	pause()
	require.NotEmpty(t, onScreen(), "it comes once more")
	closes(`{"title":"Look again later"}`)
	types()
	pause()
	require.Empty(t, onScreen())
	require.Len(t, s.diagnosticsAt(w, uri), 1)

	_, err := s.executeCommand(&protocol.ExecuteParams{Command: "cursord.allow"})
	require.NoError(t, err)
	require.NotEmpty(t, onScreen(), "cursord.allow is no answer to it, and puts it again")
	tells("answered")
	require.Nil(t, w.asks.Get("a-t"))
	require.Empty(t, s.diagnosticsAt(w, uri))
}
