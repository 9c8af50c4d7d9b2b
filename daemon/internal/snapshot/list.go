package snapshot

import (
	"slices"
	"sync/atomic"
)

// A List is a list of snapshots that one goroutine changes and others read.
type List struct {
	now atomic.Pointer[[]*Snapshot]
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
