package agent

import (
	"cmp"
	"context"
	"sync"
	"time"

	"cursord/agent/program"
)

// A Launcher starts agents one at a time, because an agent rewrites its own configuration file while it starts and parallel
// starts race. A start holds the gate until its init line, at most 2 s.
type Launcher struct {
	gate   chan struct{}
	builds *program.Builds
}

// NewLauncher returns a Launcher with its gate open. It reads from builds which options a build lacks, and adds what it
// finds out.
func NewLauncher(builds *program.Builds) *Launcher {
	return &Launcher{gate: make(chan struct{}, 1), builds: builds}
}

// Enter waits until no other agent starts, and keeps others from starting until release is called, at most 2 s. release may be called
// again. It is nil if ctx has ended.
func (l *Launcher) Enter(ctx context.Context) (release func()) {
	select {
	case l.gate <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	open := sync.OnceFunc(func() { <-l.gate })
	if ctx.Err() != nil {
		open()
		return nil
	}
	late := time.AfterFunc(gateTime, open)
	return func() {
		late.Stop()
		open()
	}
}

// Builds has what is known of the options of the agent's builds.
func (l *Launcher) Builds() *program.Builds { return l.builds }

// Run runs the agent once. It returns when the agent and every process of its group have ended. Processes that have left the
// group are ended as well if this side ends the run, or if nobody is to wait for the agent's background commands.
//
// Run calls emit from one goroutine, in order, with everything that could be decoded without waiting for more input. emit
// may block, which blocks the agent; the slice and its events belong to it.
//
// Cancelling ctx sends INT to the group, TERM 2 s later, and KILL 3 s after that. If a start lost the race for the
// configuration file, Run repeats it once. If a start was refused for an option that the turn does not need, Run repeats it
// without that option.
func (l *Launcher) Run(ctx context.Context, req Request, emit func([]Event)) Outcome {
	defer req.Control.Begin(Reach{})()
	lacks := l.builds.Lacks(cmp.Or(req.Version, req.Bin))
	for raced := false; ; {
		r := newRun(req, emit)
		r.args = without(req.arguments(), lacks)
		r.holding = true
		out := r.do(ctx, l)
		if ctx.Err() == nil {
			if !raced && r.lostRace(out) {
				raced = true
				continue
			}
			if a, refused := r.refused(out); refused {
				if req.Settled != nil {
					req.Version = req.Settled()
				}
				if l.builds.Learn(cmp.Or(req.Version, req.Bin), a.name()); a.spare {
					lacks = append(lacks, a.name())
					continue
				}
				out.Failure = req.lacking(a.name(), out.Failure.Detail)
			}
		}
		r.holding = false
		r.send(nil)
		return out
	}
}
