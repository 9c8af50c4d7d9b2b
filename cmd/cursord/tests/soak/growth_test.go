//go:build linux

package soak

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// A sample is the daemon's use of everything while no client asks for anything.
type sample struct {
	name     string
	turns    float64 // the number of turns so far
	measured []float64
}

// measures lists the figures of a sample, in order, with the growth that is allowed for each: a factor and a constant.
var measures = []struct {
	name  string
	times float64
	more  float64
}{
	{"heap, MB", 2, 16}, {"resident, MB", 2, 64}, {"goroutines", 1, 24}, {"threads", 1, 24}, {"file descriptors", 1, 24},
	{"other processes", 1, 0}, {"database, KB per turn", 2, 64},
}

// measures takes a sample after all clients have left and all turns have ended.
func (s *soak) measures(name string) sample {
	s.T.Helper()
	s.visits.Lock()
	defer s.visits.Unlock()
	e := s.Joins()
	defer e.Client.Close()
	for _, p := range s.sites {
		var list struct{ Sessions []*sessions.Session }
		e.Must("session/list", world.Obj{"workspace": p.Root, "limit": 100}, &list)
		for _, session := range list.Sessions {
			var page struct{ Turns []*sessions.Turn }
			if session.State == sessions.SessionIdle || e.Call("session/read", world.Obj{"sessionId": session.ID}, &page) != nil {
				continue
			}
			for _, turn := range page.Turns {
				e.Must("turn/wait", world.Obj{"turnId": turn.ID}, nil)
			}
		}
	}
	var status api.Status
	require.Eventually(s.T, func() bool {
		status = e.Status()
		return status.Clients == 1 && status.Turns == api.TurnCounts{} && len(world.Processes(s.T, "CURSORD_SOCKET="+s.Socket())) == 1
	}, world.Patience, 10*time.Millisecond, "the daemon does not come to rest")
	require.NoError(s.T, os.RemoveAll(s.Meter()))
	require.NoError(s.T, syscall.Kill(status.PID, syscall.SIGUSR1))
	var goroutines, heap float64
	require.Eventually(s.T, func() bool {
		b, err := os.ReadFile(s.Meter())
		_, _ = fmt.Sscan(string(b), &goroutines, &heap)
		return err == nil
	}, world.Patience, time.Millisecond)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", status.PID))
	require.NoError(s.T, err)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", status.PID))
	require.NoError(s.T, err)
	turns := float64(s.turns.Load())
	return sample{name, turns, []float64{
		heap / (1 << 20), world.Resident(status.PID, "VmRSS"), goroutines, float64(len(tasks)), float64(len(files)),
		float64(len(world.Processes(s.T, "CURSORD_SOCKET="+s.Socket())) - 1), float64(status.Storage.Bytes) / 1024 / max(turns, 1),
	}}
}

// requireBounded prints the samples and compares the last with the first.
func requireBounded(t *testing.T, table []sample) {
	t.Helper()
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, of func(sample) string) {
		fmt.Fprintf(out, "%s\t", name)
		for _, s := range table {
			fmt.Fprintf(out, "%s\t", of(s))
		}
		fmt.Fprintln(out)
	}
	row("", func(s sample) string { return s.name })
	row("turns so far", func(s sample) string { return fmt.Sprintf("%.0f", s.turns) })
	for i, m := range measures {
		row(m.name, func(s sample) string { return fmt.Sprintf("%.1f", s.measured[i]) })
	}
	require.NoError(t, out.Flush())
	t.Logf("the daemon at rest:\n%s", b.String())
	first, last := table[0], table[len(table)-1]
	for i, m := range measures {
		require.LessOrEqual(t, last.measured[i], m.times*first.measured[i]+m.more, m.name)
	}
}
