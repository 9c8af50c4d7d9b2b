package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// lifeVar names a pipe that the tests' process holds open while it lives, and its children look at: whatever ends it, no
// daemon of a test stays.
const lifeVar = "CURSORD_TEST_LIFE"

// withLife is m, with such a pipe.
type withLife struct{ m *testing.M }

func (l withLife) Run() int {
	dir, err := os.MkdirTemp("", "life")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // some children are other users'
		panic(err)
	}
	held, err := makeLife(filepath.Join(dir, "pipe"))
	if err != nil {
		panic(err)
	}
	defer held.Close()
	os.Setenv(lifeVar, held.Name())
	return l.m.Run()
}

func makeLife(path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// endWith ends this process when the one that holds the pipe has ended.
func endWith(pipe string) {
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		_, _ = f.Read(make([]byte, 1))
	}
	os.Exit(1)
}

func TestADaemonEndsWithItsTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held, err := makeLife(filepath.Join(w.dir, "pipe"))
	require.NoError(t, err)
	w.start(lifeVar + "=" + held.Name())
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
