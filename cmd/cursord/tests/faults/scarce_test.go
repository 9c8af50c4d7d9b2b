//go:build linux

package faults

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestFewDescriptors has clients take all of the daemon's descriptors. Connected clients are served, turns end properly or
// with an error, and everything works when the clients have left.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Within = world.Shell("ulimit -n 48")
	w.Put("a.txt", "old\n")
	w.Start()
	e := w.Opens()
	var crowd []net.Conn
	for range 80 {
		c, err := net.Dial("unix", w.Socket())
		require.NoError(t, err)
		crowd = append(crowd, c)
	}
	w.Plays(world.Writes("a.txt", "new\n")...)
	for range 3 {
		turn := e.Turn(nil)
		if turn.Status != sessions.TurnCompleted {
			require.Equal(t, sessions.TurnFailed, turn.Status)
			require.NotEmpty(t, turn.Error.Message)
		}
	}
	for _, c := range crowd {
		require.NoError(t, c.Close())
	}
	for turn := e.Turn(nil); turn.Status != sessions.TurnCompleted; turn = e.Turn(nil) {
		require.Contains(t, turn.Error.Message, "too many open files") // a connection whose end the daemon has not noticed yet
	}
	w.Joins().Must("workspace/list", nil, nil)
	world.Audit(t, e.All())
}

// TestManyQueued queues 200 turns: they are cancelled, interrupted and run, each with one end.
func TestManyQueued(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, world.Waits("go"), world.Succeeds(""))
	queue := func(n int) (ids []string) {
		for range n {
			ids = append(ids, e.Asks(nil).ID)
		}
		return ids
	}
	first := queue(200)
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.Equal(t, api.TurnCounts{Running: 1, Queued: 199}, status.Turns)
	for _, id := range first[10:] {
		e.Must("turn/cancel", world.Obj{"turnId": id}, nil)
	}
	for _, id := range first[10:] {
		require.Equal(t, sessions.TurnCancelled, e.Ends(id).Status)
	}
	w.Put("../go", "")
	for _, id := range first[:10] {
		require.Equal(t, sessions.TurnCompleted, e.Ends(id).Status)
	}
	require.NoError(t, os.Remove(w.Path("../go")))
	second := queue(200)
	w.Kill()
	w.Start()
	e = w.Joins()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	for _, id := range second {
		require.Equal(t, sessions.TurnInterrupted, e.Ends(id).Status)
	}
	world.Audit(t, e.All())
}

// TestWorkspaceGoesDuringATurn deletes or moves a workspace during a turn, or mounts something over it.
func TestWorkspaceGoesDuringATurn(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(t *testing.T, w *world.World){
		"deleted": func(t *testing.T, w *world.World) { require.NoError(t, os.RemoveAll(w.Root)) },
		"moved":   func(t *testing.T, w *world.World) { require.NoError(t, os.Rename(w.Root, w.Root+"2")) },
		"replaced": func(t *testing.T, w *world.World) {
			require.NoError(t, os.Rename(w.Root, w.Root+"2"))
			require.NoError(t, os.Mkdir(w.Root, 0o755))
		},
		"mounted over": func(t *testing.T, w *world.World) { world.Mounted(t, w.Root, "1m") },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			t.Cleanup(w.Kill)
			w.Put("a.txt", "old\n")
			w.Put("b.txt", "old\n")
			w.Start()
			e := w.Opens()
			write := world.Writes("a.txt", "new\n")
			w.Plays(append(write[:len(write)-1:len(write)-1], world.Piece("now"), fmt.Sprintf(`{"fake":"wait","path":%q}`, filepath.Join(w.Dir, "go")), world.Piece("later"), world.Succeeds(""))...)
			turn := e.Asks(nil)
			e.Says("now")
			away(t, w)
			require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o644))
			ended := e.Ends(turn.ID)
			require.True(t, ended.Status.Final())
			var list struct{ Diffs []*sessions.Diff }
			_ = e.Call("diff/list", world.Obj{"workspace": w.Root}, &list) // an error or the remaining hunks, but an answer
			// Other workspaces do not notice.
			other := filepath.Join(w.Dir, "other")
			require.NoError(t, os.Mkdir(other, 0o755))
			e.Must("workspace/trust", world.Obj{"workspace": other, "trusted": true}, nil)
			w.Plays(world.InitLine, world.Succeeds(""))
			next := e.Asks(world.Obj{"workspace": other})
			var done struct{ Turn *sessions.Turn }
			e.Must("turn/wait", world.Obj{"turnId": next.ID}, &done)
			require.Equal(t, sessions.TurnCompleted, done.Turn.Status)
			e.Must("session/read", world.Obj{"sessionId": turn.SessionID}, nil)
			world.Audit(t, e.All())
			w.Stop()
			w.Start()
			w.Joins().Must("session/list", world.Obj{}, nil)
		})
	}
}

// TestLittleAddressSpace starts a daemon that may map less memory than it asks for.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	if world.RaceDetector {
		t.Skip("the race detector needs more")
	}
	w := world.New(t)
	w.Within = []string{"sh", "-c", `ulimit -v 2621440 && exec "$@"`, "sh"}
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, world.Piece(strings.Repeat("0123456789abcdef", 64<<10)), world.Succeeds(""))
	for range 3 {
		require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	}
	world.Audit(t, e.All())
}

// TestStatusTellsMemory compares the memory in the status with the system's figure.
func TestStatusTellsMemory(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	require.Eventually(t, func() bool {
		var status api.Status
		e.Must("daemon/status", nil, &status)
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", status.PID))
		require.NoError(t, err)
		_, line, _ := strings.Cut(string(b), "VmRSS:")
		var kb uint64
		_, err = fmt.Sscan(line, &kb)
		require.NoError(t, err)
		return status.MemoryBytes > kb<<10*9/10 && status.MemoryBytes < kb<<10*11/10
	}, world.Patience, world.Patience/1000)
}
