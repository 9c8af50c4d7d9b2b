package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// heardUnanswered returns of the next answer whose it is, and whether it says that the request may have happened.
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

// TestJoinSaidThatARefusedRequestMayHaveHappened has a daemon refuse a request because it is about to end, and no other come.
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

// TestJoinForgotThatADaemonDied has a daemon die over a request that others then refuse.
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

// TestJoinStartedAStoppedDaemonForAnOldRequest has a request come while a daemon is looked for anyway: it is served, and
// when the daemon is stopped later, nobody starts another for it.
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
	for range quickTries + 1 { // the last after a pause
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
	case <-time.After(restPause / 2): // a joiner that is wrong takes some ms
	}
	j.says(`{"id":2,"method":"x"}`)
	j.connect()
	j.hearsAll(saysConnected)
	require.Contains(t, j.asked(), `"id":2`)
}

// TestJoinDidNotWatchTheNextDaemon has a daemon die that owes an answer, and the next one hang that is asked for it.
func TestJoinDidNotWatchTheNextDaemon(t *testing.T) {
	j := startJoin(t)
	j.connect()
	ask := `{"id":1,"method":"session/list"}`
	j.says(ask)
	require.Equal(t, ask, j.asked())
	<-time.After(lookPause / 10) // it is watched for
	require.NoError(t, j.daemon.Close())
	j.connect()
	j.hearsAll(saysConnected)
	require.NoError(t, j.daemon.SetReadDeadline(time.Now().Add(patience)))
	require.Equal(t, ask, j.asked())
	require.Contains(t, j.asked(), `"method":"`+AliveMethod+`"`)
	require.Contains(t, j.hears(), "it says nothing")
}
