package join

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestClient: a client in the same process gets answers and notifications in the order in which the daemon has sent them, goes on with
// the next daemon, and ends the connection when it is closed.
func TestClient(t *testing.T) {
	j := newJoined(t)
	heard := make(chan string, 16)
	c := Client(context.Background(), j.access(), func(method string, _ json.RawMessage) { heard <- method })
	send := func(method string) {
		require.NoError(t, rpc.Send(c, method, nil, func(result int, err error) {
			require.NoError(t, err)
			require.Equal(t, 7, result)
			heard <- "answer to " + method
		}))
	}
	hears := func(all ...string) {
		t.Helper()
		for _, want := range all {
			require.Equal(t, want, <-heard)
		}
	}
	j.connect()
	send("session/list")
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`, j.asked())
	j.tells(`{"jsonrpc":"2.0","method":"1"}`, `{"jsonrpc":"2.0","id":1,"result":7}`, `{"jsonrpc":"2.0","method":"2"}`, `{"jsonrpc":"2.0","id":99,"result":8}`, `{"jsonrpc":"2.0","method":"3"}`)
	hears("1", "answer to session/list", "2", "3")

	send("daemon/status")
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"daemon/status"}`, j.asked())
	require.NoError(t, j.daemon.Close())
	j.connect()
	hears("log/message")
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"daemon/status"}`, j.asked())
	j.tells(`{"jsonrpc":"2.0","id":2,"result":7}`)
	hears("answer to daemon/status")

	closed := make(chan error, 1)
	require.NoError(t, rpc.Send(c, "turn/wait", nil, func(_ int, err error) { closed <- err }))
	j.asked()
	require.NoError(t, c.Close())
	<-c.Done()
	require.ErrorIs(t, <-closed, rpc.ErrClosed)
	_, err := j.down.Read()
	require.ErrorIs(t, err, io.EOF)
	j.tells(`{"jsonrpc":"2.0","method":"too late"}`)
	require.NoError(t, j.daemon.Close())
	require.Empty(t, heard)
}

// TestClientOfAnotherDatabase: the client ends where it must begin anew.
func TestClientOfAnotherDatabase(t *testing.T) {
	j := newJoined(t)
	c := Client(context.Background(), j.access(), nil)
	j.connect()
	subscribed := make(chan error, 1)
	require.NoError(t, rpc.Send(c, "workspace/subscribe", rpc.SubscribeParams{Workspace: "/w"}, func(_ rpc.None, err error) { subscribed <- err }))
	j.asked()
	j.tells(`{"jsonrpc":"2.0","id":1,"result":{"workspace":"/w","seq":1,"epoch":"e","reset":false}}`)
	require.NoError(t, <-subscribed)
	require.NoError(t, j.daemon.Close())
	j.connect()
	var again struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(j.asked()), &again))
	j.tells(`{"jsonrpc":"2.0","id":"` + again.ID + `","result":{"workspace":"/w","seq":1,"epoch":"f","reset":true}}`)
	<-c.Done()
	require.ErrorIs(t, rpc.Send(c, "session/list", nil, func(rpc.None, error) {}), rpc.ErrClosed)
}
