//go:build linux

package soak

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A memory is a client's knowledge of a workspace, kept from one subscription to the next.
type memory struct {
	after  uint64
	epoch  string
	seqs   map[string]uint64 // the newest seq of each object
	ended  map[string]sessions.TurnStatus
	closed map[string]bool // deleted sessions
}

func newMemory() *memory {
	return &memory{seqs: map[string]uint64{}, ended: map[string]sessions.TurnStatus{}, closed: map[string]bool{}}
}

// subscribes subscribes from the memory's last seq.
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

// learns takes in the notifications since subscribes, and checks them against each other and against earlier ones.
func (m *memory) learns(t testing.TB, all []world.Notification) {
	t.Helper()
	var ordered []world.Notification
	for _, n := range all {
		if n.Method != "diff/changed" { // decisions change them after the turn's end, too
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
