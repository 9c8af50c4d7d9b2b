//go:build linux

package soak

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A memory is what a client knows of a workspace from one subscription to the next.
type memory struct {
	after  uint64
	epoch  string
	seqs   map[string]uint64 // of each object
	ended  map[string]sessions.TurnStatus
	closed map[string]bool // sessions that were deleted
}

func newMemory() *memory {
	return &memory{seqs: map[string]uint64{}, ended: map[string]sessions.TurnStatus{}, closed: map[string]bool{}}
}

// subscribes goes on where the memory ends.
func (m *memory) subscribes(e *world.Editor) error {
	params := world.Obj{"workspace": e.World.Root, "after": m.after}
	if m.epoch != "" {
		params["epoch"] = m.epoch
	}
	var out struct {
		Epoch string
		Reset bool
	}
	if err := e.Call("workspace/subscribe", params, &out); err != nil {
		return err
	}
	require.False(e.T, out.Reset, "the daemon does not know seq %d of store %s", m.after, m.epoch)
	m.epoch = out.Epoch
	return nil
}

// learns takes in what was told since subscribes, and checks it against itself and what was told before.
func (m *memory) learns(t testing.TB, all []world.Notification) {
	t.Helper()
	var ordered []world.Notification
	for _, n := range all {
		if n.Method != "diff/changed" { // which decisions change after the turn, too
			ordered = append(ordered, n)
		}
		if n.Seq == 0 {
			continue
		}
		require.Greater(t, n.Seq, m.after, n.Key())
		m.after = n.Seq
		if key := n.Key(); key != "" {
			m.seqs[key] = n.Seq
		}
		if n.Removed {
			m.closed[n.SessionID] = true
		}
		if n.Turn == nil {
			continue
		}
		if was, ok := m.ended[n.Turn.ID]; ok {
			require.Equal(t, was, n.Turn.Status, "turn %s ended before", n.Turn.ID)
		}
		if n.Turn.Status.Final() {
			m.ended[n.Turn.ID] = n.Turn.Status
		}
	}
	world.Audit(t, ordered)
}
