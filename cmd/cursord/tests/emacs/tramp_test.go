//go:build unix

package emacs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// sshd starts a server for ssh that leads to the world as to another machine, with keys of its own, and returns a folder with
// an "ssh" that calls it "build". The test is skipped where there is none, unless CURSORD_NEED_SSHD says that it must be there.
func sshd(w *world.World, t *testing.T) string {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("CURSORD_NEED_SSHD") != "" {
		skip = t.Fatalf
	}
	server, err := exec.LookPath("sshd")
	if err != nil {
		server = "/usr/sbin/sshd"
	}
	for _, tool := range []string{server, "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip("there is no %s", tool)
		}
	}
	if _, err := user.Lookup("sshd"); err != nil && os.Geteuid() == 0 {
		skip("there is no user sshd, as whom a part of it has to run")
	}
	client, err := exec.LookPath("ssh")
	require.NoError(t, err)
	dir := filepath.Join(w.Dir, "ssh")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, key := range []string{"host", "user"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().(*net.TCPAddr)
	require.NoError(t, free.Close())
	var env strings.Builder
	for _, entry := range w.Env() {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&env, " \"%s=%s\"", name, value)
	}
	config := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nPidFile none\nStrictModes no\n"+
		"UsePAM no\nPasswordAuthentication no\nPrintMotd no\nPrintLastLog no\nPermitRootLogin yes\nMaxSessions 50\nSetEnv%s\n", address.Port, dir, env.String())
	w.Put("../ssh/sshd_config", config)
	who, err := user.Current()
	require.NoError(t, err)
	w.Put("../ssh/config", fmt.Sprintf("Host build\nHostName 127.0.0.1\nPort %d\nUser %s\nIdentityFile %s/user\nIdentitiesOnly yes\n"+
		"StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n", address.Port, who.Username, dir))
	w.Put("../ssh/bin/ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s/config \"$@\"\n", client, dir))
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin", "ssh"), 0o755))

	log := filepath.Join(dir, "log")
	cmd := exec.Command(server, "-D", "-E", log, "-f", filepath.Join(dir, "sshd_config"))
	require.NoError(t, cmd.Start())
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone
		if t.Failed() {
			said, _ := os.ReadFile(log)
			t.Logf("sshd says:\n%s", said)
		}
	})
	for limit := time.Now().Add(world.Patience); ; {
		out, err := exec.Command(filepath.Join(dir, "bin", "ssh"), "build", "echo $HOME").CombinedOutput()
		if err == nil {
			require.Equal(t, w.Dir+"\n", string(out))
			return filepath.Join(dir, "bin")
		}
		select {
		case err := <-gone:
			gone <- err
			said, _ := os.ReadFile(log)
			if strings.Contains(string(said), "Missing privilege separation directory") {
				skip("sshd is not set up here")
			}
			t.Fatalf("sshd has ended: %v\n%s", err, said)
		default:
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || time.Now().After(limit) {
			t.Fatalf("ssh does not work: %v\n%s", err, out)
		}
	}
}

// TestEmacsTramp works in a directory that TRAMP reaches by ssh, through a real server: Emacs uses the daemon of the other machine,
// and buffers, files and daemon agree.
func TestEmacsTramp(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		path := sshd(w, t)
		before := world.Numbered(30, nil)
		after := world.Numbered(30, map[int]string{5: "five\n", 15: "15a\n15b\n", 25: ""})
		w.Put("f", before)
		w.Plays(append(append(world.Edits("1", "f", before, after), world.Edits("2", "new", "(absent)", "new\n")...), world.Streams("I changed f."), world.Done)...)
		w.Start()
		c := w.Opens()

		// This machine has a daemon of its own, which Emacs does not use.
		here := world.New(t)
		here.Root = w.Root
		e := startEmacs(here, t, bin, fmt.Sprintf(`(progn (setenv "PATH" (concat %q ":" (getenv "PATH"))) (push %q exec-path)
			(setq tramp-verbose 1) (cursord-mode 1)
			(defvar asked nil) (fset 'yes-or-no-p (lambda (prompt) (push prompt asked) t)))`, path, path))
		name := "/ssh:build:" + w.Path("f")
		e.eval(`(progn (find-file %q) nil)`, name)
		e.eval(`(progn (cursord-send (cursord-workspace-open) "change f") (cursord--chat-buffer-create (cursord-workspace-find)) nil)`)
		require.Equal(t, "build", e.eval(`(cursord-workspace-host (cursord-workspace-find))`))
		e.until("the hunks", `(equal '(4 . 2) (cursord-pending (cursord-workspace-find)))`)
		e.until("the end of the turn", `(null (cursord-busy-turns (cursord-workspace-find)))`)
		text := func(want string) {
			t.Helper()
			e.poll("the text", func() bool { return e.buffer("f") == want && w.Get("f") == want })
			e.until("an unmodified buffer", `(not (buffer-modified-p (get-buffer "f")))`)
		}
		rows := func(want string) {
			t.Helper()
			e.poll("the marks", func() bool {
				return want == fmt.Sprint(e.eval(`(with-current-buffer "f" (vconcat (mapcar (lambda (place) (line-number-at-pos (cadr place) t)) (cursord-hunk-places))))`))
			})
		}
		text(after)
		rows("[5 15 26]")
		e.goes(5)
		e.command("cursord-accept-hunk")
		rows("[15 26]")
		e.goes(15)
		e.command("cursord-reject-hunk")
		one := world.Numbered(30, map[int]string{5: "five\n", 25: ""})
		text(one)
		e.keys("C-/")
		text(after)
		rows("[15 26]")

		// Unsaved text.
		e.eval(`(progn (goto-char (point-min)) (insert "mine\n") nil)`)
		rows("[16 27]")
		e.goes(16)
		e.command("cursord-reject-hunk")
		e.poll("the edit", func() bool { return e.buffer("f") == "mine\n"+one })
		require.Equal(t, after, w.Get("f"))
		e.command("save-buffer")
		text("mine\n" + one)
		require.Len(t, c.Diffs()["f"].Hunks, 1)

		// From hunk to hunk over files, and the review.
		e.eval(`(progn (goto-char (point-max)) nil)`)
		e.command("cursord-next-hunk")
		require.Equal(t, "/ssh:build:"+w.Path("new"), e.eval(`buffer-file-name`))
		e.command("cursord-review")
		e.command("cursord-reject-file")
		e.poll("the file to go", func() bool { return w.Get("new") == "(absent)" })
		e.until("the words of it", `(with-current-buffer (messages-buffer) (goto-char (point-min)) (search-forward "new is not on disk any more" nil t))`)
		require.Contains(t, e.buffer(chatName), "I changed f.")

		// Files complete, and the daemon of this machine got no request.
		e.eval(`(progn (cursord-compose) (insert "@src") nil)`)
		require.Equal(t, true, e.eval(`(and (member "f" (cursord--project-files (cursord-workspace-find))) t)`))
		require.Error(t, here.Answers())
		e.quiet()
	})
}
