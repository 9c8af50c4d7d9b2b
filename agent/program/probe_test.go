package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/plaintext"
)

func TestParseModels(t *testing.T) {
	out := plaintext.StripANSI("\x1b[1mAvailable models\x1b[0m\r\n\n\x1b[32mauto\x1b[0m - Auto (current, default)\nzeta-8 - Zeta\u200b 8 (high)\n" +
		"  zeta-8-fast - Zeta 8 - Fast (current)\n\nTip: use --model <id> - or /model - to switch.\n")
	require.Equal(t, []Model{
		{ID: "auto", Name: "Auto", Current: true},
		{ID: "zeta-8", Name: "Zeta 8 (high)"},
		{ID: "zeta-8-fast", Name: "Zeta 8 - Fast", Current: true},
	}, parseModels(out))
	require.Empty(t, parseModels("No models available\n"))
}

func TestParseStatus(t *testing.T) {
	for out, want := range map[string]Account{
		"Not logged in\n":                              {Message: "Not logged in"},
		"\n ✓ Logged in as ann@example.org\n":          {LoggedIn: true, Name: "ann@example.org", Message: "✓ Logged in as ann@example.org"},
		"✓ Login successful!\nLogged in (team)\n":      {LoggedIn: true, Message: "Logged in (team)"},
		`{"isAuthenticated":true,"email":"a@b"}`:       {LoggedIn: true, Name: "a@b"},
		`{"status":"unauthenticated"}`:                 {},
		`{"loggedIn":true,"userInfo":{"email":"a@b"}}`: {LoggedIn: true, Name: "a@b"},
		"":                     {},
		"something else\nmore": {Message: "something else …"},
	} {
		require.Equal(t, want, parseStatus(out), out)
	}
}
