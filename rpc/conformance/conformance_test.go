package conformance

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestATurnThatEndsTooSoon: if the turn ends before the daemon is killed, the check reports that, and does not blame the
// client.
func TestATurnThatEndsTooSoon(t *testing.T) {
	t.Parallel()
	const failed = `{"id": "t", "status": "failed", "error": {"message": "another program ended the agent"}}`
	for _, tt := range []struct{ play, turn, said string }{
		{"crash", `{"id": "t", "status": "cancelled"}`, "nothing was checked: cancelled"},
		{"crash", failed, "not everything was checked: failed, another program ended the agent"},
		{"examples", failed, "not everything was checked: failed, another program ended the agent"},
	} {
		p := plays[slices.IndexFunc(plays, func(p play) bool { return p.name == tt.play })]
		w := newWatcher(p, "c.sock", "d.sock")
		c := w.connected()
		c.fromClient(rpc.Message{ID: json.RawMessage("1"), Method: "turn/start", Params: json.RawMessage(`{"turnId": "t"}`)})
		c.fromDaemon([]byte(`{"jsonrpc":"2.0","id":1,"result":{"turn": {"id": "t", "status": "running"}}}`))
		c.fromDaemon([]byte(`{"jsonrpc":"2.0","method":"turn/changed","params":{"seq": 2, "turn": ` + tt.turn + `}}`))
		s := &stage{play: p, watch: w}
		s.judge(&client{}, false, 0)
		require.Len(t, w.faults, 1)
		require.Contains(t, w.faults[0], tt.said)
	}
}

// TestAMemberOfAnotherName: the daemon ignores a member that it does not know, so the check names it. It knows the members of all
// requests.
func TestAMemberOfAnotherName(t *testing.T) {
	t.Parallel()
	w := newWatcher(plays[0], "c.sock", "d.sock")
	c := w.connected()
	for i, params := range []string{`{"workspace": "/w", "prompt": "p", "Mode": "ask", "mode": "ask"}`, `{"Mode": "ask"}`} {
		c.fromClient(rpc.Message{ID: json.RawMessage{byte('1' + i)}, Method: "turn/start", Params: json.RawMessage(params)})
	}
	c.fromClient(rpc.Message{ID: json.RawMessage("3"), Method: "initialize", Params: json.RawMessage(`{"rootUri": null}`)})
	c.fromClient(rpc.Message{ID: json.RawMessage("4"), Method: "turn/sing", Params: json.RawMessage(`{"song": "s"}`)})
	require.Equal(t, []string{`it sent turn/start with the member "Mode", which this build does not know and ignores; names are case-sensitive`}, w.remarks)
	require.Empty(t, w.faults)
	require.Equal(t, []string{"hunk"}, unknownMembers("diff/accept", json.RawMessage(`{"workspace": "/w", "path": "f", "hunk": 1, "hunks": [1], "rev": 2}`)))
	require.Equal(t, []string{"wait"}, unknownMembers("daemon/status", json.RawMessage(`{"wait": true}`)))
}
