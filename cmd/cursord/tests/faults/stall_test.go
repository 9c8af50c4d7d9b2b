//go:build unix

package faults

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// TestRunOnAFullDisk fills the disk while "cursord run" follows a turn, whose end then cannot be stored. The run ends with
// an error or by Ctrl-C, and the turn is stored once there is room.
func TestRunOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		signal bool
		status int
		says   string
	}{
		{"in a script", nil, false, world.StatusFailed, "nothing was heard of the turn for 20s, and the database takes no changes: "},
		{"as JSON", []string{"--json"}, false, world.StatusFailed, "nothing was heard of the turn for 20s, and the database takes no changes: "},
		{"and Ctrl-C", nil, true, world.StatusCancelled, "the turn was cancelled, and the database takes no changes: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("../commits", "")
			w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
			w.Plays(world.InitLine, world.Piece("all"), world.Waits("go"), world.Succeeds(""))
			e := w.Opens()
			run := exec.Command("cursord", append([]string{"run", "do it"}, c.args...)...)
			run.Env, run.Dir = w.Env(), w.Root
			var said bytes.Buffer
			run.Stderr = &said
			require.NoError(t, run.Start())
			turn := e.Until("the turn", func(n world.Notification) bool { return n.Method == "turn/changed" }).Turn.ID
			e.Says("all")
			w.Put("../commits", "ENOSPC")
			w.Put("../go", "")
			e.Message("error", "the database takes no changes")
			if c.signal {
				require.NoError(t, run.Process.Signal(syscall.SIGINT))
			}
			_ = run.Wait()
			require.Equal(t, c.status, run.ProcessState.ExitCode(), said.String())
			require.Contains(t, said.String(), c.says)
			require.Contains(t, said.String(), "no space left")
			require.Contains(t, said.String(), "\n  free disk space")
			w.Put("../commits", "")
			require.True(t, e.Ends(turn).Status.Final())
		})
	}
}

// TestRunSaysThatItWaits: a run says that it waits for the disk.
func TestRunSaysThatItWaits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../commits", "")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	w.Plays(world.InitLine, world.Piece("all"), world.Waits("go"), world.Succeeds(""))
	e := w.Opens()
	tm := w.Terminal(t)
	tm.Types("cursord run wait", "Enter")
	e.Says("all")
	w.Put("../commits", "ENOSPC")
	w.Put("../go", "")
	tm.Poll("what it waits for", func() bool {
		return strings.Contains(tm.Screen(), "\n… waiting for the database, which takes no changes (")
	})
	w.Put("../commits", "")
	tm.Poll("that it goes on", func() bool { return strings.Contains(tm.Screen(), "takes changes again") })
	require.NotContains(t, tm.Screen(), "waiting for the database")
}
