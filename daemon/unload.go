package daemon

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A workspace that nobody uses costs memory. It is unloaded after unloadAfter without requests, if it has no subscriber, no
// turn, nothing pending and no open document. The next request starts it again.
const unloadAfter = time.Minute

// endedTogether is how many workspaces are ended at the same time: ending a watch of files takes time.
const endedTogether = 128

// freeFrom is how many workspaces must be unloaded together for their memory to be given back to the system at once.
const freeFrom = 64

// use counts a goroutine that has the workspace and has not handed its request to the loop or the reviewer yet. d.mu must be
// held.
func (w *workspace) use() *workspace {
	w.users++
	w.touch()
	return w
}

// release undoes use. Without it a workspace stays loaded.
func (w *workspace) release() {
	w.touch()
	w.d.mu.Lock()
	w.users--
	w.d.mu.Unlock()
}

// touch notes that the workspace is in use.
func (w *workspace) touch() { w.touched.Store(int64(time.Since(w.d.began))) }

// sweepLater sets the timer for sweep. d.mu must be held.
func (d *Daemon) sweepLater() {
	if !d.sweeping && !d.closed {
		d.sweeping = true
		d.sweeper = time.AfterFunc(d.unloadAfter/4, func() {
			d.sweep()
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.sweeping = false; len(d.workspaces) > 0 {
				d.sweepLater()
			}
		})
	}
}

// sweep unloads the workspaces that have not been in use for a while. Two sweeps at once would take each other for users.
func (d *Daemon) sweep() {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	d.keeping.Add(1)
	defer d.keeping.Done()
	var rest []*workspace
	for _, w := range d.workspaces {
		if w.users == 0 && time.Since(d.began)-time.Duration(w.touched.Load()) >= d.unloadAfter {
			rest = append(rest, w)
		}
	}
	d.mu.Unlock()
	var gone atomic.Int32
	var ending sync.WaitGroup
	slots := make(chan struct{}, endedTogether)
	for _, w := range rest {
		slots <- struct{}{}
		ending.Go(func() {
			if w.unload() {
				gone.Add(1)
			} else {
				w.touch() // so that it is looked at again no sooner than others
			}
			<-slots
		})
	}
	ending.Wait()
	if gone.Load() > 0 {
		d.log.Debug("unloaded workspaces that nobody uses", "workspaces", gone.Load())
	}
	if gone.Load() >= freeFrom {
		debug.FreeOSMemory()
	}
}

// unload ends the workspace if nobody uses it. Later requests get a new one. A goroutine that already has this one is
// counted until its request is in one of the inboxes, and both are empty here.
func (w *workspace) unload() (gone bool) {
	w.review.WhenUnused(func() {
		_ = w.call(func() {
			if !w.unused() {
				return
			}
			w.d.mu.Lock()
			defer w.d.mu.Unlock()
			if w.users > 0 || w.d.closed || len(w.inbox) > 0 || w.review.Waiting() > 0 {
				return
			}
			if w.d.workspaces[w.root] != w {
				return // another sweep ends it
			}
			delete(w.d.workspaces, w.root)
			gone = true
		})
	})
	if gone {
		w.close()
	}
	return gone
}

// unused reports whether nothing goes on in the loop, which calls it, and everything is stored.
func (w *workspace) unused() bool {
	if len(w.subs)+len(w.turns)+len(w.queue)+len(w.texts)+len(w.sessions)+len(w.awaited) > 0 || w.stopping {
		return false
	}
	if len(w.events) > 0 || len(w.commits.Ready) > 0 || w.unstored.Load() > 0 || w.d.docs.Within(w.root) {
		return false
	}
	rec, err := w.d.store.Workspace(w.root)
	return err == nil && rec.Seq == w.seq && rec.Trusted == w.trusted
}
