package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon"
	"cursord/daemon/config"
)

// A world is a real daemon with a workspace and an agent; the test binary plays the agent.
type world struct {
	t         testing.TB
	d         *daemon.Daemon
	workspace string
	log       *slog.Logger
}

// newWorld returns a world with a trusted workspace.
func newWorld(t testing.TB) *world {
	if runtime.GOOS == "windows" {
		t.Skip("the agent of this test is started by a shell script")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	bin := filepath.Join(dir, "agent")
	require.NoError(t, os.WriteFile(bin, []byte(fmt.Sprintf("#!/bin/sh\nRPC_TEST_AGENT=1 exec %q \"$@\"\n", os.Args[0])), 0o755))
	config := config.Default()
	config.Agent = bin
	log := slog.New(slog.DiscardHandler)
	d, err := daemon.Open(daemon.Options{Version: "1.2.3", StateDir: filepath.Join(dir, "state"), Config: config, Log: log})
	require.NoError(t, err)
	t.Cleanup(func() {
		d.EndTurns()
		require.NoError(t, d.Close())
	})
	w := &world{t: t, d: d, workspace: filepath.Join(dir, "app"), log: log}
	require.NoError(t, os.Mkdir(w.workspace, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, "greeting.txt"), []byte("hello\n"), 0o644))
	return w
}

// dial returns a raw connection to the daemon.
func (w *world) dial(framing Framing) *peer {
	client, server := socketPair(w.t)
	p := &peer{t: w.t, conn: client, framing: framing, reader: NewFrameReader(client, HardCap), served: make(chan struct{})}
	go func() {
		defer close(p.served)
		ServeConn(context.Background(), server, w.d, w.log)
	}()
	w.t.Cleanup(func() {
		client.Close()
		<-p.served
	})
	return p
}

// playAgent plays the agent: it says a greeting in two pieces and rewrites a file.
func playAgent() {
	if len(os.Args) < 2 || os.Args[1] != "-p" {
		fmt.Println("2026.01.02-abcdef")
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cwd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	path := filepath.Join(cwd, "greeting.txt")
	edit := fmt.Sprintf(`"call_id":"c1","tool_call":{"editToolCall":{"args":{"path":%q}`, path)
	for _, line := range []string{
		`{"type":"system","subtype":"init","session_id":"chat-1","model":"Auto"}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"A friendlier "}]},"timestamp_ms":1}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"greeting."}]},"timestamp_ms":2}`,
		`{"type":"tool_call","subtype":"started",` + edit + `}}}`,
		"write",
		`{"type":"tool_call","subtype":"completed",` + edit +
			`,"result":{"success":{"beforeFullFileContent":"hello\n","afterFullFileContent":"good morning\n"}}}}}`,
		`{"type":"result","subtype":"success","result":"A friendlier greeting.","session_id":"chat-1","request_id":"r-1"}`,
	} {
		if line != "write" {
			fmt.Println(line)
		} else if err := os.WriteFile(path, []byte("good morning\n"), 0o644); err != nil {
			panic(err)
		}
	}
}
