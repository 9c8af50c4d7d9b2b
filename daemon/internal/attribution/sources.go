package attribution

import (
	"slices"
	"sync"

	"cursord/diffs"
)

// Sources are a list of sources that several goroutines may change and read.
type Sources struct {
	mu  sync.Mutex
	all []diffs.Source // guarded by mu
}

// All returns a copy of the list.
func (l *Sources) All() []diffs.Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Add appends a source.
func (l *Sources) Add(src diffs.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, src)
}

// Remove removes all sources that equal src.
func (l *Sources) Remove(src diffs.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(one diffs.Source) bool { return one == src })
}
