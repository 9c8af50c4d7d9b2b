package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
)

// TestHabits: a hint names only commands of its editor, and none that would drop unsaved text.
func TestHabits(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, reload, unsaved, save string
		byItself                    bool
	}{
		{"helix", " (:reload-all)", " (:reload in it; :reload-all drops your unsaved changes)", " (:wa)", false},
		{"Neovim", " (:checktime)", " (:checktime)", " (:wa)", false},
		{"Eglot", " (M-x revert-buffer)", " (M-x revert-buffer)", " (C-x s)", false},
		{"emacs", " (M-x revert-buffer)", " (M-x revert-buffer)", " (C-x s)", false},
		{"kak-lsp", " (:edit!)", " (:edit!)", " (:write-all)", false},
		{"Visual Studio Code", "", "", "", true},
		{"VSCodium", "", "", "", true},
		{"code-server", "", "", "", true},
		{"", "", "", "", false},
	} {
		c := Client{Name: one.name}
		require.Equal(t, one.reload, c.ToReload(false), one.name)
		require.Equal(t, one.unsaved, c.ToReload(true), one.name)
		require.Equal(t, one.save, c.ToSave(), one.name)
		require.Equal(t, one.byItself, c.ReloadsByItself(), one.name)
	}
}

// TestCapabilities reads editors' capabilities, also with members of another type than in LSP.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		sent string
		want func(*Client)
	}{
		{`{}`, func(*Client) {}},
		{`{"general":{"positionEncodings":["utf-7","utf-8"]}}`, func(c *Client) { c.Encoding = protocol.UTF8 }},
		{`{"general":7,"workspace":{"applyEdit":true}}`, func(c *Client) { c.ApplyEdit = true }},
		{`{"textDocument":{"diagnostic":{}}}`, func(c *Client) { c.Pulls = true }},
		{`{"textDocument":{"diagnostic":{},"publishDiagnostics":{"versionSupport":true}}}`, func(c *Client) { c.Versions = true }},
		{`{"textDocument":{"hover":{"contentFormat":["plaintext"]}}}`, func(c *Client) { c.Markdown = false }},
		{`{"textDocument":{"completion":{"dynamicRegistration":true}}}`, func(c *Client) { c.Completes, c.Registers = true, true }},
	} {
		var sent Capabilities
		_ = json.Unmarshal([]byte(one.sent), &sent) // a member of another type is an error
		want := Client{Encoding: protocol.UTF16, Markdown: true}
		one.want(&want)
		require.Equal(t, want, New(&sent), one.sent)
	}
}

// TestSettingsAreUpdated keeps settings that newer ones leave out.
func TestSettingsAreUpdated(t *testing.T) {
	t.Parallel()
	no := false
	s := Settings{Isolation: "copy", Model: "m", Completion: true}
	s.Update(Settings{Model: "n", Notify: &no, LiveTranscript: true})
	require.Equal(t, Settings{Isolation: "copy", Model: "n", Completion: true, Notify: &no, LiveTranscript: true}, s)
}
