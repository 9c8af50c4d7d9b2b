//go:build unix

package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFiles compares the files with those of testdata.
func TestFiles(t *testing.T) {
	t.Parallel()
	env := []string{`PATH=/home/m e/bin:/usr/bin`, `CURSORD_AGENT=/opt/100%/"a"\b<&>`}
	services := map[string]*Service{
		"systemd": systemd("/home/me/.config", "/run/user/1000", "/run/user/1000/cursord/d.sock", "/opt/m e/$x/cursord", env),
		"chosen":  systemd("/home/me/.config", "/run/user/1000", "/run/user/10001/50%.sock", "/usr/bin/cursord", nil),
		"launchd": launchd("/Users/me", 501, "/opt/<m e>/cursord", env),
	}
	for name, s := range services {
		var all strings.Builder
		for _, f := range s.files {
			all.WriteString("-- " + f.path + " --\n" + f.text)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		require.Equal(t, string(want), all.String(), name)
	}
}

// TestSystemdTakesTheFiles has systemd's own checker read them.
func TestSystemdTakesTheFiles(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	dir := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	s := systemd(dir, "/run/user/1000", "/run/user/1000/cursord/d.sock", program, []string{`PATH=/a b:/100%`, `X="\`})
	args := []string{"--user", "verify"}
	for _, f := range s.files {
		require.NoError(t, os.MkdirAll(filepath.Dir(f.path), 0o755))
		require.NoError(t, os.WriteFile(f.path, []byte(f.text), 0o644))
		args = append(args, f.path)
	}
	cmd := exec.Command("systemd-analyze", args...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out))
}
