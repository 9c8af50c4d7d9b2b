package review

import (
	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/clock"
)

// explained reports whether agents would have announced by now a change made at the moment when.
func (t *Worktree) explained(when int64) bool {
	if when > clock.Now()+int64(agentcalls.SaidMax) {
		return true // its time is not by this machine's clock, so waiting does not help
	}
	for _, h := range t.hearings {
		if when+int64(agentcalls.WordTime) > clock.At(h.UpTo()) {
			return false
		}
	}
	return true
}

// Heard returns the record of how far the agent's output has been processed; the turn's goroutine updates it.
func (t *Turn) Heard() *agent.Heard { return &t.heard }

// Acted reports whether the agent may have started processes.
func (t *Turn) Acted() bool { return len(t.past) > 0 || t.hooks.Any }
