package acp

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"cursord/agent"
)

// Options say how a Driver keeps processes.
type Options struct {
	Version string        // of cursord, for the agent's log
	Idle    time.Duration // how long a process is kept after a turn; 0: five minutes
	Log     *slog.Logger  // nil: nothing is logged

	// Keep keeps, in the place of what it has kept of a session, the texts of notices: what the agent has said and done while no turn ran.
	// Kept returns them.
	Keep func(session string, texts []string)
	Kept func(session string) []string
}

const (
	idleTime = 5 * time.Minute
	maxKept  = 8 // processes that are kept between turns
)

// A Driver runs the agent in ACP mode. It keeps the process of a session after a turn, for the next one.
type Driver struct {
	launcher *agent.Launcher
	options  Options

	mu     sync.Mutex
	kept   []*keeping // guarded by mu; the one that was used last comes last
	closed bool       // guarded by mu
	ending sync.WaitGroup
}

// A keeping is a process between two turns.
type keeping struct {
	session string
	proc    *proc
	timer   *time.Timer
}

// New returns a Driver that starts agents through l, which keeps starts apart.
func New(l *agent.Launcher, o Options) *Driver {
	o.Idle = cmp.Or(o.Idle, idleTime)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Driver{launcher: l, options: o}
}

// Run runs a turn, as agent.Driver says. The process that serves it may go on after the turn, for the next one of Request.Session; the
// commands that the turn has started do not, unless AwaitBackground waits for their end. emit is called from one goroutine at a time.
//
// Cancelling ctx has the agent cancel the turn. If the agent does not within 3 s, or cannot, the process gets INT, TERM 2 s later,
// and KILL 3 s after that.
func (d *Driver) Run(ctx context.Context, req agent.Request, emit func([]agent.Event)) agent.Outcome {
	fillIn(&req)
	r := &run{d: d, req: &req, emit: emit}
	out := r.run(ctx)
	if out.SessionID == "" {
		out.SessionID = req.Resume
	}
	if len(out.Unknown) > 0 {
		d.options.Log.Debug("the agent sent what was not taken in", "session", req.Session, "counts", out.Unknown)
	}
	return out
}

func fillIn(req *agent.Request) {
	if req.Enter != nil {
		req.Session = "" // between two turns nothing is where the process is
	}
	req.IdleTimeout = cmp.Or(max(req.IdleTimeout, 0), 30*time.Minute)
	req.ToolTimeout = cmp.Or(max(req.ToolTimeout, 0), 2*time.Hour)
	req.BackgroundGrace = cmp.Or(max(req.BackgroundGrace, 0), 30*time.Second)
	req.MaxLine = cmp.Or(max(req.MaxLine, 0), 64<<20)
}

// take returns the process that is kept for a session; nil if there is none.
func (d *Driver) take(session string) *proc {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.kept, func(k *keeping) bool { return k.session == session })
	if i < 0 {
		return nil
	}
	k := d.kept[i]
	k.timer.Stop()
	d.kept = slices.Delete(d.kept, i, i+1)
	k.proc.keepNoMore()
	return k.proc
}

// keep keeps a process for a session, or ends it. If it keeps too many then, it ends the one that was used first.
func (d *Driver) keep(session string, p *proc) {
	if session != "" {
		p.keepFor(func(texts []string) { d.options.Keep(session, texts) })
	}
	d.mu.Lock()
	if d.closed || session == "" {
		d.mu.Unlock()
		p.end()
		return
	}
	k := &keeping{session: session, proc: p}
	k.timer = time.AfterFunc(d.options.Idle, func() { d.drop(k) })
	d.kept = append(d.kept, k)
	var over *keeping
	if len(d.kept) > maxKept {
		over = d.kept[0]
	}
	d.mu.Unlock()
	if over != nil {
		d.drop(over)
	}
}

// drop ends a process that is kept, unless somebody has taken it.
func (d *Driver) drop(k *keeping) {
	d.mu.Lock()
	i := slices.Index(d.kept, k)
	if i < 0 {
		d.mu.Unlock()
		return
	}
	d.kept = slices.Delete(d.kept, i, i+1)
	k.timer.Stop()
	d.ending.Add(1)
	d.mu.Unlock()
	defer d.ending.Done()
	k.proc.end()
}

// End ends the process that is kept for a session, if there is one, and returns when it has ended. No turn of the session may run.
func (d *Driver) End(session string) {
	if p := d.take(session); p != nil {
		p.end()
	}
}

// Rest ends all processes that are kept between turns, and returns when they have ended.
func (d *Driver) Rest() {
	d.mu.Lock()
	list := slices.Clone(d.kept)
	d.mu.Unlock()
	var all sync.WaitGroup
	for _, k := range list {
		all.Go(func() { d.drop(k) })
	}
	all.Wait()
	d.ending.Wait()
}

// Close is Rest, and keeps no process from now on. Runs must have ended.
func (d *Driver) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.Rest()
}
