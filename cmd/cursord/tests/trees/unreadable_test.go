//go:build unix

package trees

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// unprivileged returns the path of a cursord, and a function that runs commands, for a user who is not root. If the test runs
// as root, it gives all files of w to another user.
func unprivileged(w *world.World) (cursord string, run func(name string, args ...string) string) {
	w.T.Helper()
	var cred *syscall.SysProcAttr
	cursord, err := exec.LookPath("cursord")
	require.NoError(w.T, err)
	if os.Geteuid() == 0 {
		const uid = 12345
		cred = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		own := filepath.Join(w.Dir, "cursord")
		in, err := os.Open(cursord)
		require.NoError(w.T, err)
		defer in.Close()
		out, err := os.OpenFile(own, os.O_CREATE|os.O_WRONLY, 0o755)
		require.NoError(w.T, err)
		_, err = io.Copy(out, in)
		require.NoError(w.T, err)
		require.NoError(w.T, out.Close())
		cursord = own
		w.Put("../agent", "#!/bin/sh\nexec "+own+" fake-agent \"$@\"\n")
		require.NoError(w.T, os.Chmod(w.Path("../agent"), 0o755))
		require.NoError(w.T, exec.Command("chown", "-R", "12345:12345", w.Dir).Run())
	}
	return cursord, func(name string, args ...string) string {
		w.T.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = w.Root, w.Env(), cred
		out, err := cmd.CombinedOutput()
		require.NoError(w.T, err, "%s %s: %s", name, args, out)
		return string(out)
	}
}

// TestWhatMayNotBeReadOrWritten: commands remove the permissions to read and to write files and folders.
func TestWhatMayNotBeReadOrWritten(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "a\n", "b": "b\n", "ro": "ro\n", "d/c": "c\n", "d/e": "e\n", "rd/f": "f\n", "hidden/g": "g\n"})
	require.NoError(t, os.Chmod(w.Path("hidden"), 0))
	w.Plays(world.Lines(world.Shells("s", "echo x >>a; chmod 0 b; echo x >>ro; chmod 444 ro; chmod 0 d; echo x >>rd/f; chmod 555 rd; echo n >n; chmod 0 n"))...)
	cursord, run := unprivileged(w)
	defer run(cursord, "stop", "--force")
	defer w.Makes("chmod -R u+rwX .")
	out := run(cursord, "run", "--trust", "--json", "do it")
	var notices []string
	for line := range strings.Lines(out) {
		var n world.Notification
		require.NoError(t, json.Unmarshal([]byte(line), &struct{ Params *world.Notification }{&n}), line)
		if n.Item != nil && n.Item.Kind == sessions.ItemNotice {
			notices = append(notices, n.Item.Text)
		}
	}
	require.Equal(t, []string{
		"4 changes cannot be reviewed: b: permission denied; d/c: permission denied; d/e: permission denied; …",
	}, notices, "what cannot be looked at is not gone")
	diffs := run(cursord, "diff", "--json")
	for _, path := range []string{"a", "ro", "rd/f"} {
		require.Contains(t, diffs, `"path": "`+path+`"`)
	}
	require.NotContains(t, diffs, `"d/c"`)
	run("sh", "-c", cursord+" reject --all || true")
	run("chmod", "755", "d")
	w.RequireTree(world.Tree{"a": "a\n", "d/c": "c\n"})
	info, err := os.Stat(w.Path("ro"))
	require.NoError(t, err)
	require.Equal(t, "ro\n", w.Get("ro"), "a folder that may be written lets a file be replaced")
	require.EqualValues(t, 0o644, info.Mode().Perm())
	require.Equal(t, "f\nx\n", w.Get("rd/f"), "and one that may not does not")
	require.Contains(t, run(cursord, "diff", "--json"), `"path": "rd/f"`)
	run("chmod", "755", "rd")
	run(cursord, "reject", "--all")
	require.Equal(t, "f\n", w.Get("rd/f"))
}
