package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestDeltaIsWhatTheTypesSay compares the encoding by hand with the type behind the schema.
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
