package dirwatch

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// A Handle watches folders for one user. Any goroutine may use it.
type Handle struct {
	Ready chan struct{} // holds a token when Take has something to return; closed by Close

	in *Instance
	by *reader

	// Guarded by in.mu.
	subs   map[ID]*sub
	events []Event
	lost   bool // events were lost since the last Take
	closed bool
}

// An ID is a watch of a folder by a handle. It never comes back.
type ID uint64

// An Event is something that happened in a watched folder, in inotify's words.
type Event struct {
	ID   ID     // 0: to any folder
	Kind uint32 // IN_Q_OVERFLOW, with no ID: events were lost; IN_IGNORED: the watch has ended by itself
	Name string // in the folder; "": the folder itself
	At   int64  // when it was read, a moment of package clock
}

// Add watches a folder from now on, for the kinds of events in mask. If the handle watches it already, by this path or another, the ID is the same.
func (h *Handle) Add(path string, mask uint32) (ID, error) {
	in := h.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if h.closed {
		return 0, os.ErrClosed
	}
	wd, err := unix.InotifyAddWatch(h.by.fd, path, mask|unix.IN_MASK_ADD)
	if err != nil {
		return 0, ofWatches(err)
	}
	w := in.watches[int32(wd)]
	if w != nil {
		if i := slices.IndexFunc(w.subs, func(s *sub) bool { return s.h == h }); i >= 0 {
			w.subs[i].mask |= mask
			return w.subs[i].id, nil
		}
		in.read() // what came before is not for h
		if in.watches[int32(wd)] != w {
			return 0, unix.ENOENT
		}
	} else {
		w = &watch{wd: int32(wd)}
		in.watches[w.wd] = w
	}
	in.latest++
	s := &sub{w, h, in.latest, mask}
	w.subs, h.subs[s.id] = append(w.subs, s), s
	return s.id, nil
}

// Remove ends a watch. Take may still return earlier events of it.
func (h *Handle) Remove(id ID) {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	if s := h.subs[id]; s != nil && !h.closed {
		h.remove(s)
	}
}

// remove ends a watch, unless another handle has it, too. in.mu must be held.
func (h *Handle) remove(s *sub) {
	delete(h.subs, s.id)
	if s.subs = slices.DeleteFunc(s.subs, func(of *sub) bool { return of == s }); len(s.subs) > 0 {
		return
	}
	delete(h.in.watches, s.wd)
	_, _ = unix.InotifyRmWatch(h.by.fd, uint32(s.wd)) // it may have ended by itself
}

// Take returns, in their order, all events until now that it has not returned yet. They begin with one of the kind IN_Q_OVERFLOW if any were lost.
func (h *Handle) Take() []Event {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	if h.closed {
		return nil
	}
	h.in.read()
	all := h.events
	if h.events = nil; h.lost {
		h.lost, all = false, []Event{{Kind: unix.IN_Q_OVERFLOW}}
	}
	return all
}

// put has Take return an event. in.mu must be held.
func (h *Handle) put(ev Event) {
	n := len(h.events)
	switch {
	case h.closed || h.lost:
		return
	case n > 0 && ev.Kind == unix.IN_MODIFY && h.events[n-1].same(ev): // the system would also make one of them
		return
	case n >= most:
		h.lose()
		return
	}
	h.events = append(h.events, ev)
	h.ready()
}

func (ev Event) same(as Event) bool {
	return ev.ID == as.ID && ev.Kind == as.Kind && ev.Name == as.Name
}

// lose has Take say that events were lost. in.mu must be held.
func (h *Handle) lose() {
	if !h.closed {
		h.events, h.lost = nil, true
		h.ready()
	}
}

func (h *Handle) ready() {
	select {
	case h.Ready <- struct{}{}:
	default:
	}
}

// atOnce is how many watches are ended before the system's events about it are read: otherwise these could fill its queue.
const atOnce = 500

// Close ends all watches of the handle.
func (h *Handle) Close() {
	in := h.in
	in.mu.Lock()
	if h.closed {
		in.mu.Unlock()
		return
	}
	h.closed, h.events = true, nil
	close(h.Ready)
	n := 0
	for _, s := range h.subs {
		if len(in.handles) == 1 {
			break // all of it ends
		}
		h.remove(s)
		if n++; n%atOnce == 0 {
			in.read()
			in.mu.Unlock() // others are not held up
			in.mu.Lock()
		}
	}
	h.subs = nil
	delete(in.handles, h)
	last := len(in.handles) == 0
	if last {
		in.stop()
	}
	in.mu.Unlock()
	if last {
		<-h.by.ended
	}
}
