//go:build unix

package cli

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

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A box is another machine: a world with its own places, and a program ssh on this machine that runs commands in that world.
type box struct {
	*world.World
	log string // a file with the arguments of ssh
	pid string // a file with the process id of the latest ssh
}

// reaches makes w's ssh lead to another world.
func reaches(w *world.World, there *world.World) *box {
	w.T.Helper()
	b := &box{World: there, log: filepath.Join(w.Dir, "ssh.log"), pid: filepath.Join(w.Dir, "ssh.pid")}
	script := "#!/bin/sh\necho \"$@\" >>" + b.log + "\n" +
		"if test -e " + w.Dir + "/down; then echo 'no route to host' >&2; exit 255; fi\n" +
		"while test \"$1\" != --; do shift; done\necho $$ >" + b.pid + "\n" +
		"cd /; exec env -i"
	for _, v := range there.Env() {
		script += " '" + v + "'"
	}
	w.Put("../ssh", script+" sh -c \"exec $3\"\n")
	require.NoError(w.T, os.Chmod(filepath.Join(w.Dir, "ssh"), 0o755))
	return b
}

// drops breaks the connection as a network failure does.
func (b *box) drops() {
	b.T.Helper()
	text, err := os.ReadFile(b.pid)
	require.NoError(b.T, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(b.T, err)
	require.NoError(b.T, syscall.Kill(pid, syscall.SIGKILL))
}

// TestRemote connects an editor here to a daemon on a box with other paths. The connection breaks during a turn. The turn
// goes on, and the editor gets each word once.
func TestRemote(t *testing.T) {
	t.Parallel()
	w, there := world.New(t), world.New(t)
	b := reaches(w, there)
	there.Put("f", "one\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte(`ssh = ["`+w.Dir+`/ssh", "-p", "2222"]`), 0o600))
	t.Cleanup(func() { there.Cursord("stop", "--force") })

	_, conn := w.Spawns("cursord", "--host", "me@box", "--map", w.Root+"="+there.Root)
	e := w.EditorOn(conn)
	e.Must("initialize", world.Obj{}, nil)
	e.Must("workspace/trust", world.Obj{"workspace": "file://" + w.Root, "trusted": true}, nil)
	var subscribed struct{ Workspace string }
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, &subscribed)
	require.Equal(t, w.Root, subscribed.Workspace)
	log, err := os.ReadFile(b.log)
	require.NoError(t, err)
	require.Equal(t, "-p 2222 -T -o ServerAliveInterval=15 -o BatchMode=yes -- me@box cursord stdio\n", string(log))

	say := func(text string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"session_id":"{{session}}","timestamp_ms":1}`
	}
	until := func(file string) string {
		return `{"fake":"exec","argv":["sh","-c","until test -e ` + there.Dir + `/` + file + `; do sleep 0.01; done"]}`
	}
	script := []string{`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, say("before "), until("go"), say("meanwhile "), `{"fake":"exec","argv":["touch","` + there.Dir + `/said"]}`, until("on"), say("after")}
	script = append(script, world.Lines(world.Edits("c", "f", "one\n", "two\n"))...)
	there.Plays(script...)
	turn := e.Asks(nil)
	require.Equal(t, w.Root, turn.Workspace)
	e.Until("text", func(n world.Notification) bool { return n.Method == "item/delta" })

	down := filepath.Join(w.Dir, "down")
	require.NoError(t, os.WriteFile(down, nil, 0o600))
	b.drops()
	e.Until("a word on it", func(n world.Notification) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, "ssh to me@box has ended: no route to host")
	})
	require.NoError(t, os.WriteFile(filepath.Join(there.Dir, "go"), nil, 0o600))
	waitsFor(there, "said")
	unreached := e.Fails("daemon/status", nil)
	require.Contains(t, unreached.Message, "no route to host")
	require.Contains(t, unreached.Data.Hint, "/ssh -p 2222 me@box cursord version", "the doctor knows only of this machine")
	require.NoError(t, os.Remove(down))
	e.Must("daemon/status", nil, nil)
	e.Reconnected(1)
	require.NoError(t, os.WriteFile(filepath.Join(there.Dir, "on"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	world.Audit(t, e.All())
	require.Equal(t, []string{"before meanwhile after"}, e.Said(turn.ID, sessions.ItemAssistant))

	diff := e.Diffs()["f"]
	require.Equal(t, w.Root, diff.Workspace)
	require.Equal(t, "file://"+w.Path("f"), diff.URI)
	e.Decides("diff/reject", world.Obj{"path": w.Path("f")})
	require.Equal(t, "one\n", there.Get("f"))
	require.Equal(t, "(absent)", w.Get("f"))
}

// waitsFor waits until a file beside the workspace exists.
func waitsFor(w *world.World, name string) {
	w.T.Helper()
	cmd := exec.Command("sh", "-c", fmt.Sprintf("until test -e %s/%s; do sleep 0.01; done", w.Dir, name))
	require.NoError(w.T, cmd.Run())
}
