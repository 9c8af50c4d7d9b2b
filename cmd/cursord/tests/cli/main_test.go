//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// notThisOne makes the program's name known to testscript. It must never run, because the program under test is first in
// PATH.
func notThisOne() { panic("the program under test is not first in PATH") }

// TestScripts runs each of testdata/*.txtar, a script for each feature, against the real program. A script has the fake
// agent and its own daemon, which starts when first needed. A script that hangs fails at the line where it hangs.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			params := testscript.Params{Files: []string{file}, Setup: setupScript, Deadline: time.Now().Add(4 * world.Patience)}
			testscript.RunT(script{t}, params)
		})
	}
}

// A script is a test for a single script. Its Parallel does nothing, since testscript would wait there after its deadline is
// set.
type script struct{ *testing.T }

func (script) Parallel() { /* it is already */ }

func (s script) Run(_ string, run func(t testscript.T)) { run(s) }

func (script) Verbose() bool { return testing.Verbose() }

func setupScript(env *testscript.Env) error {
	if err := world.ReadSources(); err != nil {
		return err
	}
	// Sockets need short paths, and a test's own folder may have a long one.
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	agent := filepath.Join(env.WorkDir, "bin", "cursor-agent")
	if err := os.MkdirAll(filepath.Dir(agent), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec "+world.FakeAgent()+" \"$@\"\n"), 0o700); err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	state := filepath.Join(env.WorkDir, "state")
	env.Setenv("HOME", home)
	env.Setenv("CURSORD_AGENT", agent)
	env.Setenv("CURSORD_SOCKET", filepath.Join(dir, "d.sock"))
	env.Setenv("CURSORD_STATE_DIR", state)
	env.Setenv("CURSORD_CONFIG", filepath.Join(env.WorkDir, "config.toml"))
	env.Setenv(undertest.Life, os.Getenv(undertest.Life))
	env.Setenv("GORACE", "atexit_sleep_ms=0") // by default each command under -race takes a second longer to exit
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "CURSORD_FAKE_") || strings.HasPrefix(name, "XDG_") {
			env.Setenv(name, "")
		}
	}
	wires := filepath.Join(dir, "wires")
	if err := os.Mkdir(wires, 0o700); err != nil {
		return err
	}
	env.Setenv(undertest.Wires, wires)
	env.Setenv(undertest.WiresOf, "serve stdio")
	vars := append([]string(nil), env.Vars...)
	env.Defer(func() {
		if t := env.T().(testing.TB); t.Failed() {
			log, _ := os.ReadFile(filepath.Join(state, "cursord.log"))
			t.Logf("the daemon's log:\n%s", world.End(string(log)))
		}
		stop := exec.Command("cursord", "stop", "--force")
		stop.Env = vars
		if out, err := stop.CombinedOutput(); err != nil {
			env.T().Log("cursord stop: ", err, string(out))
		}
		world.CheckWires(env.T().(testing.TB), wires, false)
		os.RemoveAll(dir)
	})
	return nil
}

func TestMain(m *testing.M) {
	world.Main(m, map[string]func(){"cursord": notThisOne, "onscreen": onScreen})
}
