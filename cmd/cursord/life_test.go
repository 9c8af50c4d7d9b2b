package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
