package dial_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// TestMain gives the tests a cursord on PATH, places of its own and the fake agent.
func TestMain(m *testing.M) { os.Exit(inWorld(m)) }

func inWorld(m *testing.M) int {
	if runtime.GOOS == "windows" {
		fmt.Println("skipped: the agent of these tests is started by a shell script")
		return 0
	}
	dir, err := os.MkdirTemp("", "d") // sockets have short paths
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, agent := os.Getenv("CURSORD_TEST_PROGRAM"), filepath.Join(dir, "agent")
	if program == "" {
		program = filepath.Join(dir, "cursord")
		if out, err := exec.Command("go", "build", "-o", program, "cursord/cmd/cursord").CombinedOutput(); err != nil {
			fmt.Printf("%v: %s\n", err, out)
			return 1
		}
	}
	if err := os.WriteFile(agent, fmt.Appendf(nil, "#!/bin/sh\nexec %q fake-agent \"$@\"\n", program), 0o700); err != nil {
		fmt.Println(err)
		return 1
	}
	for name, value := range map[string]string{
		"PATH": filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME": dir, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "",
		"CURSORD_AGENT": agent, "CURSORD_SOCKET": filepath.Join(dir, "s"), "CURSORD_STATE_DIR": filepath.Join(dir, "state"),
		"CURSORD_CONFIG": filepath.Join(dir, "config.toml"), "CURSORD_FAKE_SCRIPT": "", "CURSORD_FAKE_BUILD": "",
	} {
		os.Setenv(name, value)
	}
	defer func() {
		if out, err := exec.Command(program, "stop", "--force").CombinedOutput(); err != nil {
			fmt.Printf("cursord stop: %v: %s\n", err, out)
		}
	}()
	return m.Run()
}

// TestConnectWithoutCursord: a program that is not cursord finds no cursord to start.
func TestConnectWithoutCursord(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CURSORD_SOCKET", filepath.Join(t.TempDir(), "none"))
	t.Setenv("CURSORD_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	_, err := dial.Connect(context.Background(), dial.Options{})
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.ErrorContains(t, err, "install cursord, or add its folder to PATH")
}

// TestConnectTakesNobodysPlace connects from a program that is not cursord: it does not replace the daemon.
func TestConnectTakesNobodysPlace(t *testing.T) {
	ctx := context.Background()
	first, err := dial.Connect(ctx, dial.Options{})
	require.NoError(t, err)
	defer first.Close()
	before, err := first.DaemonStatus(ctx)
	require.NoError(t, err)
	second, err := dial.Connect(ctx, dial.Options{OnNotify: func(string, json.RawMessage) {}})
	require.NoError(t, err)
	defer second.Close()
	after, err := second.DaemonStatus(ctx)
	require.NoError(t, err)
	require.Equal(t, before.PID, after.PID)
	_, err = second.TurnWait(ctx, rpc.TurnParams{TurnID: "none"})
	answer := (*rpc.Error)(nil)
	require.ErrorAs(t, err, &answer)
	require.Equal(t, api.KindNotFound, answer.Data.Kind)
}
