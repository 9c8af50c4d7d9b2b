package copies

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/copytree"
	"cursord/sessions"
)

const patience = 30 * time.Second

// A home is a state folder with copies of a workspace, a store, and a collector.
type home struct {
	state, root string
	store       *sessions.Store
	collector   *Collector

	mu      sync.Mutex
	bounds  copytree.Bounds
	removed []string
}

// newHome makes a copy for each session; the sessions in unknown are not in the store.
func newHome(t *testing.T, ids []string, unknown ...string) *home {
	h := &home{state: t.TempDir(), root: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(h.root, "a"), []byte("a\n"), 0o600))
	store, _, err := sessions.Open(filepath.Join(h.state, "db"), sessions.Options{})
	require.NoError(t, err)
	h.store = store
	t.Cleanup(func() { store.Close() })
	for _, id := range append(ids, unknown...) {
		_, err := copytree.Make(t.Context(), h.root, copytree.Dir(h.state, id), copytree.Options{})
		require.NoError(t, err)
	}
	var ops []sessions.Op
	for i, id := range ids {
		s := &sessions.Session{ID: id, Seq: uint64(i + 1), Workspace: h.root, UpdatedAt: sessions.Now()}
		ops = append(ops, sessions.Put{Object: s})
	}
	stored := make(chan error, 1)
	store.Submit(h.root, ops, func(err error) { stored <- err })
	require.NoError(t, <-stored)
	return h
}

func (h *home) keep(t *testing.T) *Collector {
	h.collector = New(Setup{
		StateDir: h.state, Log: slog.New(slog.DiscardHandler), Store: h.store,
		Bounds: func() copytree.Bounds {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.bounds
		},
		Removed: func(root, session string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.removed = append(h.removed, session)
		},
		Unseen: func(string) bool { return false },
	})
	t.Cleanup(h.collector.Close)
	return h.collector
}

func (h *home) gone() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.removed...)
}

// TestCopiesOfSessionsThatAreGone: the copies of deleted sessions are removed once no turn uses them.
func TestCopiesOfSessionsThatAreGone(t *testing.T) {
	h := newHome(t, []string{"here"}, "gone")
	k := h.keep(t)
	require.Eventually(t, func() bool { return len(h.gone()) == 1 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return len(k.Of(h.root)) == 1 }, patience, time.Millisecond)
	require.Equal(t, []string{"gone"}, h.gone())
	require.Equal(t, "here", k.Of(h.root)[0].SessionID)
	require.Empty(t, k.Of("/elsewhere"))
	require.NoDirExists(t, copytree.Dir(h.state, "gone"))
}

// TestBounds: copies beyond the bounds are removed, those in use after their turn.
func TestBounds(t *testing.T) {
	h := newHome(t, []string{"one", "two"})
	k := h.keep(t)
	end, err := k.Use(t.Context(), "one")
	require.NoError(t, err)
	again, err := k.Use(t.Context(), "one")
	require.NoError(t, err)
	h.mu.Lock()
	h.bounds = copytree.Bounds{Bytes: 1}
	h.mu.Unlock()
	k.Look()
	require.Eventually(t, func() bool { return len(h.gone()) == 1 }, patience, time.Millisecond)
	require.Equal(t, []string{"two"}, h.gone())
	end()
	require.Eventually(t, func() bool { return len(k.Of(h.root)) == 1 }, patience, time.Millisecond)
	require.Equal(t, []string{"two"}, h.gone(), "another turn uses it")
	again()
	require.Eventually(t, func() bool { return len(h.gone()) == 2 }, patience, time.Millisecond)
}

// still returns a collector that starts no work by itself.
func still(t *testing.T, s Setup) *Collector {
	return &Collector{
		Setup: s, wake: make(chan struct{}, 1), ctx: t.Context(), done: make(chan struct{}), using: map[string]int{}, going: map[string]chan struct{}{},
	}
}

// TestUseWaits: a turn waits for the end of a removal.
func TestUseWaits(t *testing.T) {
	k := still(t, Setup{})
	require.True(t, k.claim("one"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.Use(ctx, "one")
	require.ErrorIs(t, err, context.Canceled)
	used := make(chan func(), 1)
	go func() {
		end, err := k.Use(context.Background(), "one")
		if err != nil {
			end = func() {}
		}
		used <- end
	}()
	select {
	case <-used:
		t.Fatal("used while it is being removed")
	default:
	}
	k.unclaim()
	end := <-used
	require.False(t, k.claim("one"))
	end()
	require.True(t, k.claim("one"))
	k.unclaim()
}

// TestCopiesStayWhileDiffsAreUnknown: while the pending hunks of a copy are unknown, it is not removed.
func TestCopiesStayWhileDiffsAreUnknown(t *testing.T) {
	h := newHome(t, []string{"one", "two", "three"})
	k := still(t, Setup{
		StateDir: h.state, Log: slog.New(slog.DiscardHandler), Store: h.store,
		Bounds:  func() copytree.Bounds { return copytree.Bounds{Bytes: 1} },
		Removed: func(_, session string) { h.removed = append(h.removed, session) },
	})
	k.Unseen = func(string) bool { return true } // a turn was killed there, and nobody has looked yet
	require.NoError(t, k.clean(true))
	require.Empty(t, h.removed)
	k.Unseen = func(string) bool { return false }
	require.NoError(t, h.store.Close())
	_ = k.clean(true)
	require.Empty(t, h.removed)
	list, err := copytree.List(t.Context(), h.state)
	require.NoError(t, err)
	require.Len(t, list, 3)
}
