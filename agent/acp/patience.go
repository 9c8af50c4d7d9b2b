package acp

import (
	"fmt"
	"time"
)

// A patience measures how long an agent has been silent. It is looked at again and again: a look that comes late shows that this process
// was stopped, as by a closed lid, and then the agent gets its whole time anew.
type patience struct {
	p     *proc
	limit time.Duration
	awake time.Time // the silence counts from here
	last  time.Time // of the latest look
}

// looks is how often at least a patience is to be looked at within its limit.
const looks = 8

func newPatience(p *proc, limit time.Duration) *patience {
	now := time.Now()
	return &patience{p: p, limit: limit, awake: now, last: now}
}

// step returns how often to look.
func (q *patience) step() time.Duration {
	return min(max(q.limit/looks, 10*time.Millisecond), time.Second)
}

// restart gives the agent its whole time anew.
func (q *patience) restart() {
	q.awake = time.Now()
	q.last = q.awake
}

// over reports whether the agent has been silent for longer than the limit.
func (q *patience) over() bool {
	now := time.Now()
	if late := now.Sub(q.last) - q.step(); late > max(q.step(), time.Second) {
		q.awake = now
	}
	q.last = now
	quiet := min(q.p.stream.Quiet(), now.Sub(q.awake))
	if at := q.p.heardErr.Load(); at != 0 {
		quiet = min(quiet, time.Since(q.p.begun)-time.Duration(at))
	}
	return quiet >= q.limit
}

// An errSilent says that the agent did not answer a request.
type errSilent struct {
	method string
	limit  time.Duration
}

func (e errSilent) Error() string {
	return fmt.Sprintf("the agent was silent for %v, at %s, and was ended", e.limit, e.method)
}
