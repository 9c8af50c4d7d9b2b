package agent

import (
	"context"
	"time"
)

// supervise sees to it that the process ends, and returns how it did:
//
//	cancelled              -> INT, 2 s, TERM, 3 s, KILL
//	result or end of stdout -> 2 s, KILL
//	quiet for too long     -> KILL
//	leader gone            -> the rest of the group is killed, the pipes get a deadline
func (r *run) supervise(ctx context.Context, p *process) exit {
	var grace, escalate <-chan time.Time
	harder := []func(){p.terminate, p.kill}
	cancelled, resulted, eof := ctx.Done(), r.resulted, r.eof
	idle := time.NewTimer(r.req.IdleTimeout)
	defer idle.Stop()
	ended := false // by us, for staying after it had closed stdout or given its result
	for {
		select {
		case <-cancelled:
			cancelled = nil
			if r.decided.CompareAndSwap(undecided, wasCancelled) {
				p.interrupt()
				escalate = time.After(intTime)
			} else {
				p.kill()
			}
		case <-escalate:
			harder[0]()
			if harder = harder[1:]; len(harder) > 0 {
				escalate = time.After(termTime)
			}
		case <-resulted:
			resulted, grace = nil, time.After(graceTime)
		case <-eof:
			if eof = nil; grace == nil {
				grace = time.After(graceTime)
			}
		case <-grace:
			ended = true
			p.kill()
		case <-idle.C:
			left := r.patience()
			if left <= 0 && r.decided.CompareAndSwap(undecided, wasHung) {
				p.kill()
				continue
			}
			idle.Reset(max(min(left, r.req.IdleTimeout), 10*time.Millisecond))
		case x := <-p.exited:
			deadline := time.Now().Add(drainTime)
			p.stdout.SetReadDeadline(deadline)
			p.stderr.SetReadDeadline(deadline)
			if ended {
				return exit{}
			}
			return x
		}
	}
}

// patience returns how much longer the agent may stay quiet.
func (r *run) patience() time.Duration {
	limit := r.req.IdleTimeout
	if r.open.Load() > 0 {
		limit = r.req.ToolTimeout
	}
	quiet := r.quiet.Load()
	if quiet == 0 {
		return limit
	}
	return limit - time.Duration(moment()-max(quiet, r.heardErr.Load()))
}

// firstMoment is not 0, which is no moment.
var firstMoment = time.Now().Add(-1)

// moment returns the present one, in ns, by the clock that neither jumps nor runs while the machine sleeps: no agent is
// taken to hang because somebody set the time or closed the lid.
func moment() int64 { return int64(time.Since(firstMoment)) }
