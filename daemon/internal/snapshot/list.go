package snapshot

import (
	"slices"
	"sync/atomic"
)

// A List is a list of the snapshots of one tree that one goroutine changes and others read. It keeps what the latest snapshot has read, so
// that the next one reads only what has changed since.
type List struct {
	now  atomic.Pointer[[]*Snapshot]
	kept keeper
}

// All returns the snapshots, the oldest first; nobody changes the slice.
func (l *List) All() []*Snapshot {
	if now := l.now.Load(); now != nil {
		return *now
	}
	return nil
}

// Add appends a snapshot.
func (l *List) Add(s *Snapshot) {
	with := append(slices.Clone(l.All()), s)
	l.now.Store(&with)
}

// Remove removes a snapshot.
func (l *List) Remove(s *Snapshot) {
	without := slices.DeleteFunc(slices.Clone(l.All()), func(one *Snapshot) bool { return one == s })
	l.now.Store(&without)
}
