//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// A box is another machine: a world with other places, and a program ssh here that runs commands there.
type box struct {
	*world
	log string // what ssh was called with
	pid string // the latest ssh's process
}

// reaches makes w's ssh lead to another world.
func (w *world) reaches(there *world) *box {
	w.t.Helper()
	b := &box{world: there, log: filepath.Join(w.dir, "ssh.log"), pid: filepath.Join(w.dir, "ssh.pid")}
	script := "#!/bin/sh\necho \"$@\" >>" + b.log + "\n" +
		"if test -e " + w.dir + "/down; then echo 'no route to host' >&2; exit 255; fi\n" +
		"while test \"$1\" != --; do shift; done\necho $$ >" + b.pid + "\n" +
		"cd /; exec env -i"
	for _, v := range there.env() {
		script += " '" + v + "'"
	}
	w.put("../ssh", script+" sh -c \"exec $3\"\n")
	require.NoError(w.t, os.Chmod(filepath.Join(w.dir, "ssh"), 0o755))
	return b
}

// drops ends the connection as a network does.
func (b *box) drops() {
	b.t.Helper()
	text, err := os.ReadFile(b.pid)
	require.NoError(b.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(b.t, err)
	require.NoError(b.t, syscall.Kill(pid, syscall.SIGKILL))
}

// TestRemote has an editor here and a daemon there, with other paths, and a connection that breaks in the middle of a
// turn: the turn does not notice, and the editor sees every word once.
func TestRemote(t *testing.T) {
	t.Parallel()
	w, there := newWorld(t), newWorld(t)
	b := w.reaches(there)
	there.put("f", "one\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte(`ssh = ["`+w.dir+`/ssh", "-p", "2222"]`), 0o600))
	t.Cleanup(func() { there.cursord("stop", "--force") })

	_, conn := w.spawns("cursord", "--host", "me@box", "--map", w.ws+"="+there.ws)
	e := w.editorOn(conn)
	e.must("initialize", obj{}, nil)
	e.must("workspace/trust", obj{"workspace": "file://" + w.ws, "trusted": true}, nil)
	var subscribed struct{ Workspace string }
	e.must("workspace/subscribe", obj{"workspace": w.ws}, &subscribed)
	require.Equal(t, w.ws, subscribed.Workspace)
	log, err := os.ReadFile(b.log)
	require.NoError(t, err)
	require.Equal(t, "-p 2222 -T -o ServerAliveInterval=15 -o BatchMode=yes -- me@box cursord stdio\n", string(log))

	say := func(text string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"session_id":"{{session}}","timestamp_ms":1}`
	}
	until := func(file string) string {
		return `{"fake":"exec","argv":["sh","-c","until test -e ` + there.dir + `/` + file + `; do sleep 0.01; done"]}`
	}
	script := []string{`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, say("before "), until("go"), say("meanwhile "), `{"fake":"exec","argv":["touch","` + there.dir + `/said"]}`, until("on"), say("after")}
	script = append(script, lines(edits("c", "f", "one\n", "two\n"))...)
	there.plays(script...)
	turn := e.asks(nil)
	require.Equal(t, w.ws, turn.Workspace)
	e.until("text", func(n told) bool { return n.Method == "item/delta" })

	down := filepath.Join(w.dir, "down")
	require.NoError(t, os.WriteFile(down, nil, 0o600))
	b.drops()
	e.until("a word on it", func(n told) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, "ssh to me@box has ended: no route to host")
	})
	require.NoError(t, os.WriteFile(filepath.Join(there.dir, "go"), nil, 0o600))
	there.waitsFor("said")
	unreached := e.fails("daemon/status", nil)
	require.Contains(t, unreached.Message, "no route to host")
	require.Contains(t, unreached.Data.Hint, "/ssh -p 2222 me@box cursord version", "the doctor knows only of this machine")
	require.NoError(t, os.Remove(down))
	e.must("daemon/status", nil, nil)
	e.reconnected(1)
	require.NoError(t, os.WriteFile(filepath.Join(there.dir, "on"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	audit(t, e.all())
	require.Equal(t, []string{"before meanwhile after"}, e.said(turn.ID, sessions.ItemAssistant))

	diff := e.diffs()["f"]
	require.Equal(t, w.ws, diff.Workspace)
	require.Equal(t, "file://"+w.path("f"), diff.URI)
	e.decides("diff/reject", obj{"path": w.path("f")})
	require.Equal(t, "one\n", there.get("f"))
	require.Equal(t, "(absent)", w.get("f"))
}

// waitsFor waits until a file beside the workspace is there.
func (w *world) waitsFor(name string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", fmt.Sprintf("until test -e %s/%s; do sleep 0.01; done", w.dir, name))
	require.NoError(w.t, cmd.Run())
}
