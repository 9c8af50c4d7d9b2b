package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// heardUnanswered returns the id of the next answer, and whether it says that the request may have happened.
func (j *joined) heardUnanswered() (id int, mayHaveHappened bool) {
	j.t.Helper()
	var answer struct {
		ID    int
		Error rpc.Error
	}
	heard := j.hears()
	require.NoError(j.t, json.Unmarshal([]byte(heard), &answer), heard)
	require.Equal(j.t, rpc.CodeUnavailable, answer.Error.Code, heard)
	return answer.ID, *answer.Error.Data.MayHaveHappened
}

func declines(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32022,"message":"the daemon is stopping"}}`, id)
}

// TestJoinSaidThatARefusedRequestMayHaveHappened: a daemon refuses a request because it is about to end, and there is no
// other daemon.
func TestJoinSaidThatARefusedRequestMayHaveHappened(t *testing.T) {
	j := startJoin(t)
	j.connect()
	j.says(`{"id":1,"method":"diff/accept","params":{"workspace":"/w","all":true}}`, `{"id":2,"method":"workspace/trust"}`)
	j.asked()
	j.asked()
	j.tells(declines(1))
	require.NoError(t, j.daemon.Close())
	for range quickTries {
		j.dials <- dialed{err: errors.New("no room")}
	}
	require.Contains(t, j.hears(), "no room")
	for _, want := range []bool{false, true} {
		id, mayHaveHappened := j.heardUnanswered()
		require.Equal(t, want, mayHaveHappened, "request %d", id)
	}
}

// TestJoinSaidThatADeadDaemonDoesNotAnswer: a daemon that did not answer was killed, and the end of its connection has not come yet.
func TestJoinSaidThatADeadDaemonDoesNotAnswer(t *testing.T) {
	var out bytes.Buffer
	dead := false
	j := &joiner{
		out: &editorEnd{w: &out, framing: rpc.FramingLines}, phase: unresponsive, err: errors.New("it does not answer"),
		access: Access{Ended: func() bool { return dead }},
	}
	asks := func() {
		body := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/list"}`)
		m, bad := rpc.ParseMessage(body)
		require.Nil(t, bad)
		j.handle(&m, body)
	}
	asks()
	require.Contains(t, out.String(), "it does not answer")
	dead = true
	out.Reset()
	asks()
	require.Empty(t, out.String())
	require.Len(t, j.waiting, 1, "it waits for the next daemon")
}

// TestJoinForgotThatADaemonDied: a daemon dies after it got a request, and the next ones refuse it. The request may have
// happened.
func TestJoinForgotThatADaemonDied(t *testing.T) {
	j := startJoin(t)
	j.connect()
	j.says(`{"id":1,"method":"workspace/trust","params":{"workspace":"/w","trusted":true}}`)
	j.asked()
	require.NoError(t, j.daemon.Close())
	for range maxSent - 1 {
		j.connect()
		j.hearsAll(saysConnected)
		j.asked()
		j.tells(declines(1))
		require.NoError(t, j.daemon.Close())
	}
	_, mayHaveHappened := j.heardUnanswered()
	require.True(t, mayHaveHappened)
}

// TestJoinStartedAStoppedDaemonForAnOldRequest: a request comes while the joiner looks for a daemon, and is served. When
// that daemon is stopped later, the joiner starts none for this old request.
func TestJoinStartedAStoppedDaemonForAnOldRequest(t *testing.T) {
	j := startJoin(t)
	for range quickTries {
		j.dials <- dialed{err: errors.New("no room")}
	}
	j.says(`{"method":"initialized"}`)
	require.Contains(t, j.hears(), "no room")
	taken := func() {
		j.says("not json")
		require.Contains(t, j.hears(), "-32700")
	}
	for range quickTries + 1 { // the last dial comes after a pause
		<-j.dialed
	}
	j.says(`{"id":1,"method":"x"}`)
	taken()
	j.connect()
	j.hearsAll(saysConnected)
	require.Contains(t, j.asked(), `"id":1`)
	j.tells(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	j.hearsAll(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	j.rests.Store(true)
	require.NoError(t, j.daemon.Close())
	require.Contains(t, j.hears(), "the next request starts it again")
	select {
	case <-j.dialed:
		t.Fatal("a daemon that nobody asked for")
	case <-time.After(restPause / 2): // a wrong joiner dials within a few ms
	}
	j.says(`{"id":2,"method":"x"}`)
	j.connect()
	j.hearsAll(saysConnected)
	require.Contains(t, j.asked(), `"id":2`)
}

// TestJoinDidNotWatchTheNextDaemon: a daemon dies before its answer, and the next daemon hangs with the same request.
func TestJoinDidNotWatchTheNextDaemon(t *testing.T) {
	j := startJoin(t)
	j.connect()
	ask := `{"id":1,"method":"session/list"}`
	j.says(ask)
	require.Equal(t, ask, j.asked())
	<-time.After(lookPause / 10) // now the joiner watches the daemon
	require.NoError(t, j.daemon.Close())
	j.connect()
	j.hearsAll(saysConnected)
	require.NoError(t, j.daemon.SetReadDeadline(time.Now().Add(patience)))
	require.Equal(t, ask, j.asked())
	require.Contains(t, j.asked(), `"method":"`+AliveMethod+`"`)
	require.Contains(t, j.hears(), "it says nothing")
}
