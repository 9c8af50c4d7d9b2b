package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// FuzzQuote compares with what encoding/json writes.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "<a href=\"x\">&</a>", "\x00\x01\b\t\n\v\f\r\x1f\x7f\\", "ä€😀\u2028\u2029\ufffd", "\xff\xc3\xe2\x82", "\xed\xa0\x80",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := encode(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(quote(s)))
		require.Equal(t, string(want), string(appendQuoted(nil, []byte(s))))
	})
}

// TestDeltaIsWhatTheTypesSay holds the encoding by hand to the type from which the schema is made.
func TestDeltaIsWhatTheTypesSay(t *testing.T) {
	n := delta("item \"1\"", 12, "a\n<ä>\x00\u2028")
	n.Workspace, n.Delta.SessionID, n.Delta.TurnID, n.Delta.Kind = "/w\\", "s\t", "t ", sessions.ItemThinking
	d := n.Delta
	params, err := encode(DeltaParams{
		Workspace: n.Workspace, SessionID: d.SessionID, TurnID: d.TurnID, ItemID: d.ItemID, Kind: d.Kind, Offset: d.Offset, Text: d.Text,
	})
	require.NoError(t, err)
	require.Equal(t, string(AppendRequest(nil, nil, "item/delta", params)), string(encodeNotification(n)))
}
