package daemon

import (
	"sync"
	"time"
)

// A hearing says how far the words of a running agent have been taken in. What was written since may be what it has
// just said that it would write.
type hearing struct {
	mu     sync.Mutex
	busy   bool      // with words that have come
	free   time.Time // when it was last done with some
	caught time.Time // when nothing was left to be read
}

// idleTime is how long nothing must come for all to have been read: on a busy machine, what there is to read is not read
// at once.
const idleTime = 2 * slack

func (h *hearing) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.free) >= idleTime {
		h.caught = now
	}
	h.busy = true
}

func (h *hearing) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy, h.free = false, time.Now()
}

// upTo returns until when all that the agent has said has been taken in.
func (h *hearing) upTo() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); !h.busy && now.Sub(h.free) >= idleTime {
		return now
	}
	return h.caught
}

// explained reports whether agents would have said by now that they would make a change of that time, Unix ns.
func (t *worktree) explained(when int64) bool {
	for _, h := range t.hearings {
		if when+int64(wordTime) > h.upTo().UnixNano() {
			return false
		}
	}
	return true
}
