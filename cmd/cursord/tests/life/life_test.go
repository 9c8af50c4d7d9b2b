//go:build unix

package life

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

func TestADaemonEndsWithItsTest(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	held, err := world.MakeLife(filepath.Join(w.Dir, "pipe"))
	require.NoError(t, err)
	w.Start(undertest.Life + "=" + held.Name())
	e := w.Opens()
	w.Plays(world.InitLine, world.Piece("here"), `{"fake":"hang"}`)
	e.Asks(nil)
	e.Says("here")
	require.NoError(t, held.Close())
	select {
	case <-w.Ended:
	case <-time.After(world.Patience):
		t.Fatal("it runs on")
	}
}

// TestIdleExit: a daemon ends soon after its last client has left, but not during a turn, and stores that turn.
func TestIdleExit(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Args = []string{"--detached"}
	w.Plays(world.InitLine, world.Piece("here"), world.Waits("go"), `{"fake":"sleep","ms":300}`, world.Piece(" and there"), world.Succeeds(""))
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Says("here")
	w.Put("../config.toml", `idle_exit = "20ms"`) // only now: a busy machine may take longer to connect
	e.Must("daemon/reload", nil, nil)
	require.NoError(t, e.Client.Close())
	w.Put("../go", "")
	select {
	case <-w.Ended:
	case <-time.After(world.Patience):
		t.Fatal("it does not end although nobody is there")
	}
	require.NoFileExists(t, w.Socket())
	log, err := os.ReadFile(filepath.Join(w.Dir, "state", "cursord.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "nobody was here for a while")
	w.Put("../config.toml", "")
	var read struct{ Turn *sessions.Turn }
	require.NoError(t, json.Unmarshal([]byte(w.CursordOK("call", "turn/wait", `{"turnId":"`+turn.ID+`"}`)), &read))
	require.Equal(t, sessions.TurnCompleted, read.Turn.Status)
	w.CursordOK("stop")
}
