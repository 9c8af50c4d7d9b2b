package agent

import (
	"context"
	"time"

	"cursord/agent/process"
)

// looks is how often supervise looks at an agent within the time that the agent may be quiet.
const looks = 8

// supervise makes sure that the process ends, and returns how it ended:
//
//	cancelled                                  -> INT, 2 s, TERM, 3 s, KILL
//	waits for background commands for too long -> the same
//	result or end of stdout                    -> 2 s, KILL
//	quiet for too long                         -> KILL
//	leader gone                                -> the rest of the group is killed, the pipes get a deadline
func (r *run) supervise(ctx context.Context, p *process.Child) process.Exit {
	var grace, escalate <-chan time.Time
	harder := []func(){p.Terminate, p.Kill}
	cancelled, resulted, eof := ctx.Done(), r.resulted, r.eof
	var awake, due int64 // moments: since when, as far as is known, nobody has stopped this process; and of the next look at the agent
	idle := time.NewTimer(0)
	defer idle.Stop()
	step := min(r.req.IdleTimeout, r.req.BackgroundGrace) / looks
	next := func(in time.Duration) {
		in = max(min(in, step), 10*time.Millisecond)
		due = moment() + int64(in)
		idle.Reset(in)
	}
	next(step)
	interrupt := func() {
		r.family.Look()
		r.ran = r.running()
		p.Interrupt()
		escalate = time.After(intTime)
	}
	ended := false // by us, because it stayed after it had closed stdout or given its result
	for {
		select {
		case <-cancelled:
			cancelled = nil
			if r.decided.CompareAndSwap(undecided, wasCancelled) {
				interrupt()
			} else {
				p.Kill()
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
			p.Kill()
		case <-idle.C:
			if now := moment(); stopped(time.Duration(now-due), step) {
				awake = now // what stopped us may have stopped the agent too, and its output since then is not read yet
			}
			alone := r.stage.Load() == leftAlone
			left := r.patience(awake)
			switch {
			case left > 0, alone && unread(p.Stdout) > 0:
				next(left)
			case alone && r.decided.CompareAndSwap(undecided, wasLeft):
				interrupt()
			case r.decided.CompareAndSwap(undecided, wasHung):
				r.family.Look()
				r.ran = r.running()
				p.Kill()
			}
		case x := <-p.Exited:
			deadline := time.Now().Add(drainTime)
			p.Stdout.SetReadDeadline(deadline)
			p.Stderr.SetReadDeadline(deadline)
			if ended {
				return process.Exit{}
			}
			return x
		}
	}
}

// stopped reports whether a look that comes late shows that something has stopped this process. On a busy machine each look of
// short steps is late, and a turn that takes this for a stop never ends.
func stopped(late, step time.Duration) bool { return late > max(step, time.Second) }

// patience returns how much longer the agent may stay quiet, counted from a moment since which this process was able to hear
// it.
func (r *run) patience(since int64) time.Duration {
	limit := r.req.IdleTimeout
	switch r.stage.Load() {
	case inCall:
		limit = r.req.ToolTimeout
	case leftAlone:
		if limit = r.req.BackgroundGrace; r.req.AwaitBackground && !r.aborted.Load() {
			return limit
		}
		if r.knowsTimeout() {
			limit = time.Duration(graceSeconds(limit))*time.Second + abortTime
		}
	}
	quiet := r.quiet.Load()
	if quiet == 0 {
		return limit
	}
	since = max(quiet, r.heardErr.Load(), since)
	r.silent.Store(since)
	return limit - time.Duration(moment()-since)
}

// firstMoment is before every moment, so that 0 is none.
var firstMoment = time.Now().Add(-1)

// moment returns the present in ns by a clock that neither jumps nor runs while the machine sleeps. So no agent counts as
// hung because somebody set the time or closed the lid.
func moment() int64 { return int64(time.Since(firstMoment)) }
