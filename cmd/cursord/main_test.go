package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
// its own, started when first needed, and the fake agent.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: setupScript})
}

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
	env.Setenv("HOME", home)
	env.Setenv("CURSORD_AGENT", agent)
	env.Setenv("CURSORD_SOCKET", filepath.Join(dir, "d.sock"))
	env.Setenv("CURSORD_STATE_DIR", filepath.Join(env.WorkDir, "state"))
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
