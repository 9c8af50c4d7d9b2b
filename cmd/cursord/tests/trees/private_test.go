//go:build linux

package trees

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNothingIsGivenAway runs turns with secret words, and looks for these words in the daemon's log and on the command
// lines of its processes.
func TestNothingIsGivenAway(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "one file-secret\n")
	w.Start("CURSOR_API_KEY=key-secret")
	e := w.Opens()
	w.Plays(
		`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"said-secret"}]},"session_id":"{{session}}","timestamp_ms":1}`,
		`not json raw-secret`, `{"type":"odd-secret"}`, `{"fake":"stderr","text":"stderr-secret {{prompt}}"}`,
		strings.Join(world.Edits("c", "f", "one file-secret\n", "two file-secret\n"), "\n"),
		`{"fake":"hang"}`)
	turn := e.Asks(world.Obj{"prompt": "prompt-secret", "context": []world.Obj{{"kind": "text", "title": "t", "text": "context-secret"}}})
	e.Until("the edit", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "f" })

	pids := world.Processes(t, "CURSORD_SOCKET="+w.Socket())
	require.GreaterOrEqual(t, len(pids), 2, "the daemon and its agent")
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a program that the daemon has asked for something, and that has ended
		}
		require.NoError(t, err)
		require.NotContains(t, string(line), "secret")
	}

	// The log names mistakes, refusals and ends without the user's words.
	e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "prompt-secret", "mode": "mode-secret"})
	e.Fails("diff/reject", world.Obj{"workspace": w.Root, "hunks": []string{"hunk-secret"}, "comment": "comment-secret"})
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(t, err)
	_, err = io.WriteString(conn, `{"secret`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"x","params":"secret"}`+"\n")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	e.Ends(turn.ID)
	w.Plays(`{"fake":"stderr","text":"stderr-secret"}`, `{"fake":"exit","code":3}`)
	e.Turn(world.Obj{"prompt": "prompt-secret"})
	e.Decides("diff/reject", world.Obj{"all": true})
	w.Kill()
	w.Start("CURSOR_API_KEY=key-secret")
	w.Opens()
	w.Stop()
	require.NotContains(t, w.Log.String(), "secret")

	for _, name := range []string{"cursord.db", "."} {
		info, err := os.Stat(filepath.Join(w.Dir, "state", name))
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is open to others", name)
	}
}

// TestReadOnlyPlaces runs cursord with folders that it cannot write. Root can write everywhere, so the test runs it as
// another user.
func TestReadOnlyPlaces(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	w := world.New(t)
	program, err := exec.LookPath("cursord")
	require.NoError(t, err)
	b, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(w.Dir, 0o755))
	w.Put("../bin/cursord", string(b))
	require.NoError(t, os.Chmod(w.Path("../bin/cursord"), 0o755))
	state := filepath.Join(w.Dir, "state")
	try := func(args ...string) string {
		cmd := exec.Command(filepath.Join(w.Dir, "bin", "cursord"), args...)
		cmd.Env, cmd.Dir = w.Env("CURSORD_SOCKET="+filepath.Join(w.Dir, "run", "d.sock")), "/"
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"daemon/status"}` + "\n")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "%s", out)
		return string(out)
	}
	for _, dir := range []string{"run", "state"} {
		require.NoError(t, os.Mkdir(filepath.Join(w.Dir, dir), 0o500))
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(filepath.Join(w.Dir, dir), nobody, nobody))
		}
	}
	require.Contains(t, try("status"), state+"/cursord.log: permission denied")
	require.Contains(t, try("serve"), "/run/d.sock.lock: permission denied")
	require.Contains(t, try("stdio"), `"code":-32022,"message":"cannot start the daemon: open `+state+`/cursord.log: permission denied: allow it, or choose another folder with CURSORD_STATE_DIR"`)
	require.NoError(t, os.Chmod(filepath.Join(w.Dir, "run"), 0o700))
	require.Contains(t, try("serve"), state+"/cursord.db: permission denied")
	require.NoError(t, os.Chmod(state, 0o777))
	require.Contains(t, try("serve"), state+" is open to other users (mode 0777)")
}
