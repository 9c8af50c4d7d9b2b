//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cursord/cmd/cursord/internal/undertest"

	"github.com/stretchr/testify/require"
)

// TestRunOnAFullDisk has the disk be full while "cursord run" follows a turn whose end therefore cannot be told: the run ends
// with an error, or with Ctrl-C, and the turn is stored once there is room.
func TestRunOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		signal bool
		status int
		says   string
	}{
		{"in a script", nil, false, statusFailed, "nothing was heard of the turn for 20s, and the database takes no changes: "},
		{"as JSON", []string{"--json"}, false, statusFailed, "nothing was heard of the turn for 20s, and the database takes no changes: "},
		{"and Ctrl-C", nil, true, statusCancelled, "the turn was cancelled, and the database takes no changes: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("../commits", "")
			w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
			w.plays(initLine, piece("all"), waits("go"), succeeds(""))
			e := w.opens()
			run := exec.Command("cursord", append([]string{"run", "do it"}, c.args...)...)
			run.Env, run.Dir = w.env(), w.ws
			var said bytes.Buffer
			run.Stderr = &said
			require.NoError(t, run.Start())
			turn := e.until("the turn", func(n told) bool { return n.Method == "turn/changed" }).Turn.ID
			e.says("all")
			w.put("../commits", "ENOSPC")
			w.put("../go", "")
			e.message("error", "the database takes no changes")
			if c.signal {
				require.NoError(t, run.Process.Signal(syscall.SIGINT))
			}
			_ = run.Wait()
			require.Equal(t, c.status, run.ProcessState.ExitCode(), said.String())
			require.Contains(t, said.String(), c.says)
			require.Contains(t, said.String(), "no space left")
			require.Contains(t, said.String(), "\n  make room on the disk")
			w.put("../commits", "")
			require.True(t, e.ends(turn).Status.Final())
		})
	}
}

// TestRunSaysThatItWaits has people see that a run waits for the disk.
func TestRunSaysThatItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../commits", "")
	w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
	w.plays(initLine, piece("all"), waits("go"), succeeds(""))
	e := w.opens()
	tm := w.terminal(t)
	tm.types("cursord run wait", "Enter")
	e.says("all")
	w.put("../commits", "ENOSPC")
	w.put("../go", "")
	tm.poll("what it waits for", func() bool {
		return strings.Contains(tm.screen(), "\n… waiting for the database, which takes no changes (")
	})
	w.put("../commits", "")
	tm.poll("the end", func() bool { return !strings.Contains(tm.screen(), "waiting for the database") })
	require.Contains(t, tm.screen(), "takes changes again")
}
