// Package copies removes copies of workspaces that nobody needs: those of deleted sessions, those that were never finished,
// and the least recently used ones above the configured bounds. It never removes a copy that a turn uses, nor, for the
// bounds, one with something to review. Package copytree makes the copies.
package copies

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/copytree"
	"cursord/sessions"
)

// A Setup is the surroundings of a Collector.
type Setup struct {
	StateDir string // the folder with the copies
	Log      *slog.Logger
	Store    *sessions.Store
	Bounds   func() copytree.Bounds // returns the configured bounds
	Removed  func(root, session string)
	Unseen   func(root string) bool // reports whether copies of a workspace may have changes that are not under review yet
}

// A Collector removes copies in a goroutine of its own. Any goroutine may call its methods.
type Collector struct {
	Setup
	wake   chan struct{} // holds a token when there is something to check
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when its goroutine has ended

	mu    sync.Mutex
	using map[string]int           // guarded by mu; the number of turns that use the copy, by session
	going map[string]chan struct{} // guarded by mu; closed when the session's copy has been removed
	list  []copytree.Info          // guarded by mu; the copies as last listed
}

// New returns a Collector that has begun its work. The caller must own the store, because the Collector removes what an earlier
// daemon did not finish. Close ends it.
func New(s Setup) *Collector {
	k := &Collector{
		Setup: s, wake: make(chan struct{}, 1), done: make(chan struct{}), using: map[string]int{}, going: map[string]chan struct{}{},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	go k.loop()
	k.Look()
	return k
}

// Close ends the Collector, even in the middle of a removal.
func (k *Collector) Close() {
	k.cancel()
	<-k.done
}

// Look has the Collector check the copies soon.
func (k *Collector) Look() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *Collector) loop() {
	defer close(k.done)
	for first := true; ; first = false {
		select {
		case <-k.wake:
			if err := k.clean(first); err != nil && k.ctx.Err() == nil {
				k.Log.Warn("copies of workspaces could not be looked after", "err", err)
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// clean removes the copies of deleted sessions, unfinished copies of an earlier daemon, and copies above the bounds.
func (k *Collector) clean(first bool) error {
	known := func(session string) bool {
		_, err := k.Store.Session(session)
		return !errors.Is(err, sessions.ErrNotFound)
	}
	reviewed := map[string]map[string]bool{} // by workspace
	needed := func(info copytree.Info) bool {
		if k.Unseen(info.Root) {
			return true
		}
		if reviewed[info.Root] == nil {
			found, err := k.reviewed(info.Root)
			if err != nil {
				return true
			}
			reviewed[info.Root] = found
		}
		return reviewed[info.Root][info.Session]
	}
	var removed []copytree.Info
	remove := func(b copytree.Bounds, keep func(copytree.Info) bool) error {
		gone, err := copytree.Clean(k.ctx, k.StateDir, b, func(info copytree.Info) bool { return keep(info) || !k.claim(info.Session) })
		removed = append(removed, gone...)
		return err
	}
	// A copy without a root was never finished.
	err := remove(copytree.Bounds{Age: 1}, func(info copytree.Info) bool { return known(info.Session) && (info.Root != "" || !first) })
	if err == nil {
		err = remove(k.Bounds(), needed)
	}
	for _, info := range removed {
		k.Log.Info("removed a copy of a workspace", "session", info.Session, "workspace", info.Root)
		k.Removed(info.Root, info.Session)
	}
	k.unclaim()
	list, listErr := copytree.List(k.ctx, k.StateDir)
	if listErr == nil {
		k.mu.Lock()
		k.list = list
		k.mu.Unlock()
	}
	return errors.Join(err, listErr)
}

// reviewed returns the sessions whose copies of a workspace have something to review.
func (k *Collector) reviewed(root string) (map[string]bool, error) {
	diffs, err := k.Store.PendingDiffs(root)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, d := range diffs {
		for _, h := range d.Hunks {
			for _, src := range h.Sources {
				if h.Isolated {
					found[src.SessionID] = true
				}
			}
		}
	}
	return found, nil
}

// claim reserves a copy for removal, unless a turn uses it.
func (k *Collector) claim(session string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.using[session] > 0 {
		return false
	}
	if k.going[session] == nil {
		k.going[session] = make(chan struct{})
	}
	return true
}

func (k *Collector) unclaim() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for session, gone := range k.going {
		close(gone)
		delete(k.going, session)
	}
}

// Use protects a session's copy until end is called. If the copy is being removed, Use waits; it fails with the context's
// error or api.ErrStopped.
func (k *Collector) Use(ctx context.Context, session string) (end func(), err error) {
	for {
		k.mu.Lock()
		gone := k.going[session]
		if gone == nil {
			k.using[session]++
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				if k.using[session]--; k.using[session] == 0 {
					delete(k.using, session)
				}
				k.mu.Unlock()
				k.Look()
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-gone:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-k.done:
			return nil, api.ErrStopped
		}
	}
}

// Of lists the copies of a workspace.
func (k *Collector) Of(root string) (list []api.CopyInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, info := range k.list {
		if info.Root == root {
			list = append(list, api.CopyInfo{
				SessionID: info.Session, Path: info.Dir, Bytes: info.Bytes,
				UsedAt: sessions.Time{Time: info.LastUsed.UTC().Truncate(time.Millisecond)}, Kind: info.Kind, Reason: info.Why,
			})
		}
	}
	return list
}
