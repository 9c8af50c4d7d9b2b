package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/copytree"
	"cursord/sessions"
)

// A copyGC keeps the copies of sessions within bounds: like a caretaker who asks before throwing things out. Turns tell it
// which copies they use.
type copyGC struct {
	d      *Daemon
	wake   chan struct{} // holds one token when there is something to look after
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when its goroutine has ended

	mu    sync.Mutex
	using map[string]int           // guarded by mu; turns, by session
	going map[string]chan struct{} // guarded by mu; closed when the session's copy has been removed
	list  []copytree.Info          // guarded by mu; as last seen
}

func newCopyGC(d *Daemon) *copyGC {
	k := &copyGC{
		d: d, wake: make(chan struct{}, 1), done: make(chan struct{}), using: map[string]int{}, going: map[string]chan struct{}{},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	go k.loop()
	k.look()
	return k
}

func (k *copyGC) close() {
	k.cancel()
	<-k.done
}

// look has the keeper look after the copies soon.
func (k *copyGC) look() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *copyGC) loop() {
	defer close(k.done)
	for first := true; ; first = false {
		select {
		case <-k.wake:
			if err := k.clean(first); err != nil && k.ctx.Err() == nil {
				k.d.log.Warn("copies of workspaces could not be looked after", "err", err)
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// clean removes the copies of sessions that are no more, what was never finished by an earlier daemon, and what is over
// the bounds.
func (k *copyGC) clean(first bool) error {
	pending := map[string]map[string]bool{} // sessions with something to review in their copies, by workspace
	known := func(session string) bool {
		_, err := k.d.store.Session(session)
		return !errors.Is(err, sessions.ErrNotFound)
	}
	needed := func(info copytree.Info) bool {
		if pending[info.Root] == nil {
			pending[info.Root] = map[string]bool{}
			diffs, err := k.d.store.PendingDiffs(info.Root)
			if err != nil {
				return true
			}
			for _, d := range diffs {
				for _, h := range d.Hunks {
					for _, src := range h.Sources {
						if h.Isolated {
							pending[info.Root][src.SessionID] = true
						}
					}
				}
			}
		}
		return pending[info.Root][info.Session]
	}
	var removed []copytree.Info
	remove := func(b copytree.Bounds, keep func(copytree.Info) bool) error {
		gone, err := copytree.Clean(k.ctx, k.d.stateDir, b, func(info copytree.Info) bool { return keep(info) || !k.claim(info.Session) })
		removed = append(removed, gone...)
		return err
	}
	// What has no root was never finished. Whoever has the store is the only daemon.
	err := remove(copytree.Bounds{Age: 1}, func(info copytree.Info) bool { return known(info.Session) && (info.Root != "" || !first) })
	if err == nil {
		err = remove(k.d.settings().Copies, needed)
	}
	for _, info := range removed {
		k.d.log.Info("removed a copy of a workspace", "session", info.Session, "workspace", info.Root)
		k.d.mu.Lock()
		w := k.d.workspaces[info.Root]
		k.d.mu.Unlock()
		if w != nil {
			w.review.CopyRemoved(info.Session)
		}
	}
	k.unclaim()
	list, listErr := copytree.List(k.ctx, k.d.stateDir)
	if listErr == nil {
		k.mu.Lock()
		k.list = list
		k.mu.Unlock()
	}
	return errors.Join(err, listErr)
}

// claim takes a copy for removal, unless a turn uses it.
func (k *copyGC) claim(session string) bool {
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

func (k *copyGC) unclaim() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for session, gone := range k.going {
		close(gone)
		delete(k.going, session)
	}
}

// use keeps a session's copy from being removed until the function that it returns is called.
func (k *copyGC) use(ctx context.Context, session string) (end func(), err error) {
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
				k.look()
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

// of lists the copies of a workspace.
func (k *copyGC) of(root string) (list []api.CopyInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, info := range k.list {
		if info.Root == root {
			list = append(list, api.CopyInfo{
				SessionID: info.Session, Path: info.Dir, Bytes: info.Bytes,
				UsedAt: sessions.Time{Time: info.LastUsed.UTC().Truncate(time.Millisecond)},
			})
		}
	}
	return list
}
