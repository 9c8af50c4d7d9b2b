package acp

import (
	"slices"
	"time"

	"cursord/agent"
)

// holdTime is how long a command that the agent has announced waits for a request for permission, which would follow at once. After it,
// the command counts as begun since its announcement.
const holdTime = 50 * time.Millisecond

// unheardTime is how long it waits at most, if the agent has written more that nobody has taken in: the request may be in that.
const unheardTime = 2 * time.Second

// held returns when the first of the calls that wait for a request for permission counts as begun; false if none waits.
func (d *decoder) held() (at time.Time, some bool) {
	for _, c := range d.calls {
		if until := d.heldUntil(c); !c.since.IsZero() && (!some || until.Before(at)) {
			at, some = until, true
		}
	}
	return at, some
}

// heldUntil returns when a call that waits for a request for permission counts as begun, as far as that is known now.
func (d *decoder) heldUntil(c *call) time.Time {
	now, until := d.now(), c.since.Add(holdTime)
	if d.upTo != nil && !now.Before(until) && now.Before(c.since.Add(unheardTime)) && d.upTo().Before(until) {
		return now.Add(holdTime / 10)
	}
	return until
}

// release begins the calls that have waited long enough.
func (d *decoder) release(dst []agent.Event) []agent.Event {
	now := d.now()
	for _, id := range slices.Clone(d.order) {
		if c := d.calls[id]; !c.since.IsZero() && !d.heldUntil(c).After(now) {
			dst = d.start(dst, c, c.since)
		}
	}
	return dst
}
