package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/sessions"
)

func TestADaemonEndsWithItsTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held, err := makeLife(filepath.Join(w.dir, "pipe"))
	require.NoError(t, err)
	w.start(undertest.Life + "=" + held.Name())
	e := w.opens()
	w.plays(initLine, piece("here"), `{"fake":"hang"}`)
	e.asks(nil)
	e.says("here")
	require.NoError(t, held.Close())
	select {
	case <-w.ended:
	case <-time.After(patience):
		t.Fatal("it runs on")
	}
}

// TestIdleExit has a daemon that ends soon after its last client: not while a turn runs, and with what came of it stored.
func TestIdleExit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../config.toml", `idle_exit = "20ms"`)
	w.args = []string{"--detached"}
	w.plays(initLine, piece("here"), waits("go"), `{"fake":"sleep","ms":300}`, piece(" and there"), succeeds(""))
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	e.says("here")
	require.NoError(t, e.c.Close())
	w.put("../go", "")
	select {
	case <-w.ended:
	case <-time.After(patience):
		t.Fatal("it does not end although nobody is there")
	}
	require.NoFileExists(t, w.socket())
	log, err := os.ReadFile(filepath.Join(w.dir, "state", "cursord.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "nobody was here for a while")
	w.put("../config.toml", "")
	var read struct{ Turn *sessions.Turn }
	require.NoError(t, json.Unmarshal([]byte(w.cursordOK("call", "turn/wait", `{"turnId":"`+turn.ID+`"}`)), &read))
	require.Equal(t, sessions.TurnCompleted, read.Turn.Status)
	w.cursordOK("stop")
}
