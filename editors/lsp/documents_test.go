package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/paths"
	"cursord/editors/lsp/client"
	"cursord/editors/lsp/protocol"
)

// TestAnOvertakenChangeIsDropped: Helix 25.01 may send the text before the last key after the text with it. The document
// keeps the later text, and its version.
func TestAnOvertakenChangeIsDropped(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	s := newServer(t.Context(), &out, Options{Version: "test", StateDir: filepath.Join(dir, "state"), Dial: newSilent, Log: slog.New(slog.DiscardHandler)})
	s.client = client.New(&client.Capabilities{})
	s.client.Name, s.client.Version = "helix", "25.01.1"
	s.phase, s.roots = serving, []string{paths.URI(dir)}
	s.begin()
	defer s.daemon.client.Close()
	uri := paths.URI(filepath.Join(dir, "f"))
	var open protocol.DidOpenParams
	open.TextDocument.URI, open.TextDocument.Text = uri, "line\n"
	s.didOpen(&open)
	for _, one := range []struct {
		version int
		text    string
	}{{1, "m\nline\n"}, {3, "min\nline\n"}, {2, "mi\nline\n"}} {
		params := fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"text":%q}]}`, uri, one.version, one.text)
		var change protocol.DidChangeParams
		require.NoError(t, json.Unmarshal([]byte(params), &change))
		s.didChange(&change)
	}
	require.Equal(t, "min\nline\n", s.docs[uri].text.Content)
	require.Equal(t, 3, s.docs[uri].version)
}
