package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	var inject injected
	if plan := os.Getenv("CURSORD_FAULT"); plan != "" {
		inject.fault = (&faults{plan: plan}).step
		signal.Ignore(syscall.SIGXFSZ)
	}
	if plan := os.Getenv("CURSORD_COMMIT_FAULT"); plan != "" {
		inject.fault = commitFault(plan)
	}
	if path := os.Getenv("CURSORD_AHEAD"); path != "" {
		inject.ahead = aheadBy(path)
	}
	if path := os.Getenv("CURSORD_METER"); path != "" {
		go meters(path)
	}
	if place := os.Getenv("CURSORD_GIVES_WAY"); place != "" && len(os.Args) > 1 && os.Args[1] == "serve" && os.Remove(place) == nil {
		os.Exit(0)
	}
	if pipe := os.Getenv(lifeVar); pipe != "" {
		go endWith(pipe)
	}
	recordWires()
	testscript.Main(withLife{m}, map[string]func(){"cursord": func() { os.Exit(run(os.Args[1:], inject)) }, "bare-relay": bareRelay, "fake-acp": fakeACP})
}

// TestScripts runs each of testdata/*.txtar, one for a feature, against the real program. A script has a daemon of
// its own, started when first needed, and the fake agent. One that hangs ends with the line at which it did.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			params := testscript.Params{Files: []string{file}, Setup: setupScript, Deadline: time.Now().Add(4 * patience)}
			testscript.RunT(script{t}, params)
		})
	}
}

// A script is a test in which one script runs: testscript would wait for its turn only after the deadline has been set.
type script struct{ *testing.T }

func (script) Parallel()                                { /* it is already */ }
func (s script) Run(_ string, run func(t testscript.T)) { run(s) }
func (script) Verbose() bool                            { return testing.Verbose() }

func setupScript(env *testscript.Env) error {
	// Sockets have short paths, which a test's own folder may not have.
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	agent := filepath.Join(env.WorkDir, "bin", "cursor-agent")
	if err := os.MkdirAll(filepath.Dir(agent), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec cursord fake-agent \"$@\"\n"), 0o700); err != nil {
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
	env.Setenv(lifeVar, os.Getenv(lifeVar))
	env.Setenv("GORACE", "atexit_sleep_ms=0") // by default each command under -race ends a second late
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "CURSORD_FAKE_") || strings.HasPrefix(name, "XDG_") {
			env.Setenv(name, "")
		}
	}
	wires := filepath.Join(dir, "wires")
	if err := os.Mkdir(wires, 0o700); err != nil {
		return err
	}
	env.Setenv(wiresVar, wires)
	env.Setenv(wiresOfVar, "serve stdio")
	vars := append([]string(nil), env.Vars...)
	env.Defer(func() {
		if t := env.T().(testing.TB); t.Failed() {
			log, _ := os.ReadFile(filepath.Join(state, "cursord.log"))
			t.Logf("the daemon's log:\n%s", log)
		}
		stop := exec.Command("cursord", "stop", "--force")
		stop.Env = vars
		if out, err := stop.CombinedOutput(); err != nil {
			env.T().Log("cursord stop: ", err, string(out))
		}
		checkWires(env.T().(testing.TB), wires, false)
		os.RemoveAll(dir)
	})
	return nil
}
