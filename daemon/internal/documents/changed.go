package documents

import (
	"sync"
	"time"
)

// A Changed collects the paths of changed documents until somebody looks at them: people type faster than anybody reads. Any goroutine
// may call its methods.
type Changed struct {
	mu    sync.Mutex
	paths map[string]bool // guarded by mu
	timer *time.Timer     // guarded by mu; nil: no look is planned
}

// Add adds a path and has look called, which must not block: at once, or after a delay if no earlier path is waiting for that.
func (c *Changed) Add(path string, atOnce bool, delay time.Duration, look func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paths == nil {
		c.paths = map[string]bool{}
	}
	c.paths[path] = true
	switch {
	case atOnce:
		look()
	case c.timer == nil:
		c.timer = time.AfterFunc(delay, look)
	}
}

// Take returns the paths that were added since the last Take.
func (c *Changed) Take() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := c.paths
	c.paths, c.timer = nil, nil
	return paths
}
