package rpc

import (
	"encoding/json"
	"strings"
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

// FuzzDecodeDelta: the short way reads the same as encoding/json.
func FuzzDecodeDelta(f *testing.F) {
	whole := `{"workspace":"/w\\","sessionId":"s","turnId":"t","itemId":"t:1","kind":"assistant","offset":12,"text":"a\n<ä>\u2028"}`
	for _, params := range []string{
		whole, whole[:len(whole)-1], whole + " ", whole + "}", strings.Replace(whole, "12", "012", 1), strings.Replace(whole, "12", "-1", 1),
		strings.Replace(whole, "12", "1e1", 1), strings.Replace(whole, "12", "9999999999999999999", 1), strings.Replace(whole, `\n`, `\u00`, 1),
		strings.Replace(whole, `\n`, "\n", 1), strings.Replace(whole, "ä", "\xff", 1), strings.Replace(whole, "ä", "\xec\xf4", 1), strings.Replace(whole, `,"kind":"assistant"`, "", 1),
		strings.Replace(whole, `"s"`, `null`, 1), `{}`, `[]`, ``, `{"workspace":`, `{"workspace":"`, `{"Text":"a"}`,
	} {
		f.Add(params)
	}
	f.Fuzz(func(t *testing.T, params string) {
		var want DeltaParams
		wantErr := json.Unmarshal([]byte(params), &want)
		got, err := DecodeDelta([]byte(params))
		require.Equal(t, wantErr == nil, err == nil)
		if err == nil {
			require.Equal(t, want, got)
		}
	})
}
