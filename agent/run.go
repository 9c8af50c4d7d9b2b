package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cursord/agent/failure"
	"cursord/agent/process"
	"cursord/agent/program"
)

// A Request describes one run of the agent.
type Request struct {
	// Session names who may go on with a process of the agent that a driver keeps after the run; "": nobody. A driver runs one
	// Request of a name at a time.
	Session string

	Bin     string // the executable
	Version string // its build, or "" if not known; the options that it lacks are remembered by this name
	Dir     string // the workspace: --workspace and the working directory
	Prompt  string // goes to stdin, then EOF
	Model   string // "" means "auto": the flag is always given, because the agent otherwise takes the last one used
	Mode    string // "agent", "ask" or "plan"
	Force   bool
	Resume  string // the agent's session id, or ""

	Sandbox    string   // "enabled", "disabled", or "": the agent's own settings decide
	AutoReview bool     // a classifier of the agent's decides what would be asked for
	AddDirs    []string // absolute; folders that the agent may work in beside Dir. --trust, which is always given, covers them

	Base []string // the environment, "K=V"; nil: this process's
	Env  []string // added to it
	Mark string   // an entry of Env that no other run has, by which processes of the run are found; or ""

	// Settled, if not nil, says that Version may be wrong by now. It waits for the program's answer.
	Settled func() string

	// Enter, if not nil, changes the command that runs the agent, so that it starts where Dir is.
	Enter func(*exec.Cmd) error

	// Ready, if not nil, holds the prompt back until it is closed. The agent starts meanwhile, and reads its prompt
	// before it does anything else.
	Ready <-chan struct{}

	// Heard, if not nil, is kept up to date while the run lasts.
	Heard *Heard

	// Control, if not nil, reaches the run while it lasts.
	Control *Control

	IdleTimeout time.Duration // without output and with no tool call open; 0: 30 min
	ToolTimeout time.Duration // without output while a tool call is open, or a sub-agent is at work; 0: 2 h

	// An agent that has said all may wait for commands that it has left in the background. If it is silent for
	// BackgroundGrace (0: 30 s), the run ends as completed; with AwaitBackground the run lasts as long as the commands.
	BackgroundGrace time.Duration
	AwaitBackground bool

	MaxLine int // bytes; longer lines are skipped with a Notice; 0: 64 MiB
}

// maxLineDefault is the limit of a line, in bytes, where a Request names none.
const maxLineDefault = 64 << 20

// A RunStatus is how a run ended.
type RunStatus string

const (
	Completed RunStatus = "completed"
	Failed    RunStatus = "failed"
	Cancelled RunStatus = "cancelled" // ctx was cancelled before the result
)

// An Outcome is the end of a run.
type Outcome struct {
	Status    RunStatus
	SessionID string // from the result, else init, else Request.Resume
	RequestID string
	Result    *string // the agent's result text if it succeeded and gave one, else all its text joined; nil if it said nothing
	Usage     *Usage
	Stop      StopReason     // why the agent stopped before it was done, if it has said so
	Failure   *failure.Error // for Failed
	Unknown   map[string]int // counts of events that were kept raw, by Unknown.Type
}

const (
	gateTime  = 2 * time.Second        // how long a start keeps others waiting if init does not come
	abortTime = 2 * time.Second        // for an agent to end its background commands by itself, and say its result
	graceTime = 2 * time.Second        // between the result, or the end of stdout, and the kill
	intTime   = 2 * time.Second        // between INT and TERM
	termTime  = 3 * time.Second        // between TERM and KILL
	drainTime = 500 * time.Millisecond // for what an ended agent left in its pipes
	leftTime  = 250 * time.Millisecond // for what an ended agent has ended to be gone
)

// A StopReason is why an agent stopped before it was done; "" if it was done, or did not say.
type StopReason string

const (
	StopMaxTokens   StopReason = "maxTokens"       // the model's answer reached its limit
	StopMaxRequests StopReason = "maxTurnRequests" // the turn's requests to the model reached their limit
	StopRefusal     StopReason = "refusal"         // the model refused to go on
)

// A verdict is what ended a run; the first one counts.
type verdict = int32

const (
	undecided verdict = iota
	gaveResult
	wasCancelled
	wasHung
	wasLeft // alone with commands in the background
)

// A run is one process and its outcome.
type run struct {
	req  Request
	args []argument
	emit func([]Event)

	// Of the goroutine that reads stdout, and after it has ended of do.
	dec      *Decoder
	holding  bool // events wait in held until the agent has said something in JSON: the start may be repeated
	held     []Event
	result   *Result
	session  string
	unknown  map[string]int
	failures []string
	bare     tail
	release  func() // opens the gate, once

	// Of the goroutine that reads stderr, and after it has ended of do.
	stderr tail

	decided  atomic.Int32
	resulted chan struct{} // closed at the result
	eof      chan struct{} // closed at the end of stdout
	quiet    atomic.Int64  // since which moment the reader of stdout waits; 0 while it does not
	heardErr atomic.Int64  // the moment at which stderr last said something
	stage    atomic.Int32  // a stage
	aborted  atomic.Bool   // the agent has ended what it had in the background
	silent   atomic.Int64  // for wasHung: since which moment
	family   *process.Family
	shells   atomic.Pointer[[]behind] // the commands in the background
	ran      []behind                 // of them, those that may have run when the run was ended from here; supervise's, then do's
}

// running returns the background commands that may still run.
func (r *run) running() []behind {
	if shells := r.shells.Load(); shells != nil {
		return stillRuns(*shells, r.family.Running)
	}
	return nil
}

func newRun(req Request, emit func([]Event)) *run {
	if req.IdleTimeout <= 0 {
		req.IdleTimeout = 30 * time.Minute
	}
	if req.ToolTimeout <= 0 {
		req.ToolTimeout = 2 * time.Hour
	}
	if req.BackgroundGrace <= 0 {
		req.BackgroundGrace = defaultGrace
	}
	if req.MaxLine <= 0 {
		req.MaxLine = maxLineDefault
	}
	dec := NewDecoder()
	dec.dir = req.Dir // as long as the agent says nothing else
	return &run{
		req: req, emit: emit, dec: dec, session: req.Resume, unknown: map[string]int{},
		resulted: make(chan struct{}), eof: make(chan struct{}),
	}
}

// do runs the agent to its end.
func (r *run) do(ctx context.Context, l *Launcher) Outcome {
	if r.release = l.Enter(ctx); r.release == nil {
		return r.outcome(Cancelled, nil)
	}
	defer r.release()

	cmd, err := r.command()
	var p *process.Child
	if err == nil {
		p, err = process.Start(cmd)
	}
	if err != nil {
		return r.outcome(Failed, startError(r.req, err))
	}
	r.family = process.NewFamily(p.Cmd.Process.Pid, r.req.Mark)
	var aside sync.WaitGroup
	aside.Go(func() {
		if r.req.Ready != nil {
			select {
			case <-r.req.Ready:
			case <-r.eof:
			}
		}
		p.Feed(r.req.Prompt)
	})
	aside.Go(func() { r.readErrors(p.Stderr) })
	var end process.Exit
	supervised := make(chan struct{})
	go func() {
		defer close(supervised)
		end = r.supervise(ctx, p)
	}()
	r.read(p.Stdout)
	close(r.eof)
	<-supervised
	if decided := r.decided.Load(); decided != undecided && decided != gaveResult || r.dec.timedOut {
		r.family.End()
	} else if shells := r.dec.shells(); len(shells) > 0 && !r.req.AwaitBackground {
		r.endLeft(shells)
	}
	p.Stdin.Close()
	aside.Wait()
	p.Close()
	return r.judge(end)
}

// endLeft ends the background commands that an agent has left behind which ended by itself. The agent ends them too, but it
// misses those that have left its group, and ends none if it was killed.
func (r *run) endLeft(shells []behind) {
	left := r.family.Left()
	for end := time.Now().Add(leftTime); len(left) > 0 && time.Now().Before(end); left = r.family.Left() {
		time.Sleep(leftTime / 10)
	}
	if len(left) == 0 {
		return
	}
	r.family.End()
	r.send([]Event{Notice{Text: "The agent's background commands were ended" + named(whats(stillAmong(shells, left))) + "." + hintWait}})
}

// judge makes the outcome once everything has ended.
func (r *run) judge(x process.Exit) Outcome {
	switch r.decided.Load() {
	case wasCancelled:
		if len(r.ran) > 0 {
			r.send([]Event{Notice{Text: "Background commands were ended with the turn" + named(whats(r.ran)) + "."}})
		}
		return r.outcome(Cancelled, nil)
	case wasHung:
		left := slices.DeleteFunc(slices.Clone(r.dec.behind), func(b behind) bool { return !b.nested })
		switch {
		case len(r.dec.open) > 0 || !r.dec.afterFinal && (!r.dec.final || len(r.dec.behind) == 0):
			return r.outcome(Failed, r.hung())
		case r.dec.afterFinal:
			text := fmt.Sprintf("The agent had finished and was ended, because it was silent for %v after a background command had ended", r.req.IdleTimeout)
			r.send([]Event{Notice{Text: text + named(whats(append(slices.Clip(r.ran), left...))) + "."}})
			return r.outcome(Completed, nil)
		}
		r.send([]Event{Notice{Text: leftText(append(slices.Clip(r.ran), left...))}}) // a sub-agent that does not end is no failure of what was said
		return r.outcome(Completed, nil)
	case wasLeft:
		if (r.result == nil || !r.result.OK) && !r.dec.timedOut { // a result may have come at the last moment
			r.send([]Event{Notice{Text: leftText(r.ran)}})
		}
		return r.outcome(Completed, nil)
	}
	if r.result != nil && r.result.OK {
		return r.outcome(Completed, nil)
	}
	e := failure.Ending{Failures: r.failures, Bare: r.bare.String(), Stderr: r.stderr.String(), Objects: r.dec.heard, Exit: x}
	if r.result != nil {
		e.Result = &r.result.Error
	}
	return r.outcome(Failed, e.Explain())
}

// leftText says that the run is over although something still ran.
func leftText(what []behind) string {
	return "The agent had finished. Its background commands were ended" + named(whats(what)) + "." + hintWait
}

// hung returns the failure of an agent that was silent for too long: since when, and what was open.
func (r *run) hung() *failure.Error {
	limit, setting := r.req.IdleTimeout, "agent_idle_timeout"
	if r.dec.stage() == inCall {
		limit, setting = r.req.ToolTimeout, "agent_tool_timeout"
	}
	since := time.Now().Add(-time.Duration(moment() - r.silent.Load())).Format(time.DateTime)
	open := "no tool call was open"
	if list := r.dec.openTitles(); len(list) > 0 {
		open = "while a tool ran" + named(list)
	}
	if list := whats(r.ran); len(list) > 0 {
		open += "; in the background" + named(list)
	}
	return &failure.Error{
		Kind:    failure.KindHung,
		Message: fmt.Sprintf("the agent was silent for %v, since %s (%s), and was ended", limit, since, open),
		Hint:    fmt.Sprintf("try again, or raise %s in the configuration", setting), Detail: failure.Detail(r.stderr.String()),
	}
}

func (r *run) outcome(status RunStatus, failure *failure.Error) Outcome {
	out := Outcome{Status: status, SessionID: r.session, Failure: failure, Unknown: r.unknown}
	if r.result != nil {
		out.RequestID, out.Usage = r.result.RequestID, r.result.Usage
		if r.result.SessionID != "" {
			out.SessionID = r.result.SessionID
		}
		if text := r.result.Text; text != nil && *text != "" {
			cut := cutResult(*text, len(*text))
			out.Result = &cut
		}
	}
	if out.Result == nil { // what was said is a copy
		if said := r.dec.Text(); said != "" {
			out.Result = &said
		}
	}
	return out
}

// lostRace reports whether the agent died at its start because another start had moved its configuration file away.
func (r *run) lostRace(out Outcome) bool {
	return out.Status == Failed && !r.dec.heard &&
		failure.LostRace(r.stderr.String()+r.bare.String())
}

const hintGone = "look whether the folder was moved or deleted; where it was moved to, go on with a recap of the session"

func startError(req Request, err error) *failure.Error {
	if info, statErr := os.Stat(req.Dir); statErr != nil || !info.IsDir() {
		return &failure.Error{Kind: failure.KindFailed, Message: "the workspace no longer exists: " + req.Dir, Hint: hintGone, Detail: err.Error()}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrPermission) {
		return program.CannotRun(req.Bin, err)
	}
	return &failure.Error{Kind: failure.KindFailed, Message: "cannot start the agent: " + err.Error(), Hint: failure.HintStart}
}
