package attribution

import (
	"slices"
	"sync"

	"cursord/diffs"
)

// Sources are a list that several goroutines change and read.
type Sources struct {
	mu  sync.Mutex
	all []diffs.Source // guarded by mu
}

// All returns a copy.
func (l *Sources) All() []diffs.Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Add adds one behind the others.
func (l *Sources) Add(src diffs.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, src)
}

// Remove takes one out.
func (l *Sources) Remove(src diffs.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(one diffs.Source) bool { return one == src })
}
