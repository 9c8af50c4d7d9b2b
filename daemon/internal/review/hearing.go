package review

import (
	"time"

	"cursord/agent"
	"cursord/daemon/internal/clock"
)

// wordTime is how long the word of a running agent, that it is about to write a file, may be on its way to us. Until then
// what has just been written is nobody's.
const wordTime = 250 * time.Millisecond

// explained reports whether agents would have said by now that they would make a change of that moment.
func (t *Worktree) explained(when int64) bool {
	if when > clock.Now()+int64(saidMax) {
		return true // it is by no clock of ours: nothing will ever tell
	}
	for _, h := range t.hearings {
		if when+int64(wordTime) > clock.At(h.UpTo()) {
			return false
		}
	}
	return true
}

// Heard returns how far the agent's words have come, which the turn's goroutine tells it.
func (t *Turn) Heard() *agent.Heard { return &t.heard }
