package client

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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
		{"helix", ":reload-all shows it", ":reload it (:reload-all drops unsaved)", " (:wa)", false},
		{"Neovim", "reload to see it (:checktime)", "reload to see it (:checktime)", " (:wa)", false},
		{"Eglot", "reload to see it (M-x revert-buffer)", "reload to see it (M-x revert-buffer)", " (C-x s)", false},
		{"emacs", "reload to see it (M-x revert-buffer)", "reload to see it (M-x revert-buffer)", " (C-x s)", false},
		{"kak-lsp", "reload to see it (:edit!)", "reload to see it (:edit!)", " (:write-all)", false},
		{"Visual Studio Code", "reload to see it", "reload to see it", "", true},
		{"VSCodium", "reload to see it", "reload to see it", "", true},
		{"code-server", "reload to see it", "reload to see it", "", true},
		{"", "reload to see it", "reload to see it", "", false},
	} {
		c := Client{Name: one.name}
		require.Equal(t, one.reload, c.ToReload(false), one.name)
		require.Equal(t, one.unsaved, c.ToReload(true), one.name)
		require.Equal(t, one.save, c.ToSave(), one.name)
		require.Equal(t, one.byItself, c.ReloadsByItself(), one.name)
	}
}

// TestKeys: messages for Helix name the keys that are installed there, and fit its line.
func TestKeys(t *testing.T) {
	t.Parallel()
	hx, other := Client{Name: "helix"}, Client{Name: "another"}
	require.Equal(t, "space i n (cursord.next)", hx.Key("next"))
	require.Equal(t, "cursord.next", other.Key("next"))
	require.Equal(t, "space i a (cursord.allow)", hx.Key("approvals"), "the key's command")
	require.Equal(t, "; space i u (cursord.undo) brings them back", hx.Back("rejected", 2))
	require.Empty(t, hx.Back("rejected", 1)+hx.Back("accepted", 2))
	const columns = 80 - len("cursord: ")
	for _, message := range []string{
		"1 open file changed on disk – " + hx.ToReload(true), "1 open file changed on disk – " + hx.ToReload(false),
		"program.go is newer on disk – " + hx.ToReloadFirst(), hx.AboutConflicts("program.go", 12),
		hx.Merged("main.go", 0, false), hx.Merged("main.go", 2, false), hx.Merged("main.go", 2, true),
		hx.AboutSave(12),
	} {
		require.LessOrEqual(t, utf8.RuneCountInString(message), columns, message)
	}
	require.Contains(t, hx.Merged("f", 2, false), "2 conflicts in f: space a, then :w!")
	require.Contains(t, other.Merged("f", 1, false), "decide 1 conflict before you save it")
}

// TestEditorsWhoseChangesOvertakeSendWholeTexts: Helix before 25.07 does not keep the order of changes.
func TestEditorsWhoseChangesOvertakeSendWholeTexts(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, version string
		whole         bool
	}{
		{"helix", "24.7 (079f5442)", true}, {"helix", "25.01.1", true}, {"helix", "25.07", false}, {"helix", "25.07.1 (abc)", false},
		{"Neovim", "0.10.4", false}, {"Visual Studio Code", "1.9", false}, {"", "", false},
	} {
		c := Client{Name: one.name, Version: one.version}
		offers, err := json.Marshal(c.Answer("1", nil))
		require.NoError(t, err)
		kind := map[bool]string{true: `"change":1,`, false: `"change":2,`}[one.whole]
		require.Contains(t, string(offers), kind, "%s %s", one.name, one.version)
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

// TestInPopup: Helix breaks no line of a popup at a blank, so that it shows as many rows as it has counted.
func TestInPopup(t *testing.T) {
	t.Parallel()
	long := "make\tit " + strings.Repeat("very ", 10) + "long"
	require.Equal(t, "short one\n"+long, (&Client{Name: "Neovim"}).InPopup("short one\n"+long))
	require.Equal(t, "short one\n"+strings.NewReplacer(" ", "\u00a0", "\t", "\u00a0").Replace(long), (&Client{Name: "helix"}).InPopup("short one\n"+long))
}
