package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
	"cursord/agent/process"
)

// A run is one Request on its way.
type run struct {
	d    *Driver
	req  *agent.Request
	emit func([]agent.Event)

	kept *proc // the process that has served the turn before, until it is known whether it serves this one, too
}

// startTime is how long an agent may be silent while it starts, or opens its session.
const startTime = 2 * time.Minute

func (r *run) run(ctx context.Context) agent.Outcome {
	if r.req.Session != "" {
		r.kept = r.d.take(r.req.Session)
		r.tellKept()
	}
	p, t, failed := r.serve(ctx)
	if ctx.Err() == nil && (failed == errUnnoticed || t != nil && t.unsent) {
		p, t, failed = r.serve(ctx)
	}
	switch {
	case failed != nil && ctx.Err() != nil:
		return agent.Outcome{Status: agent.Cancelled}
	case failed != nil:
		return agent.Outcome{Status: agent.Failed, Failure: failed}
	}
	if t.ran || t.cancelled {
		if left := r.left(p); len(left) > 0 {
			r.await(ctx, p, t, left)
			p.end()
			r.goOn(p, t)
			return t.out
		}
	}
	r.goOn(p, t)
	if p.doomed.Load() || p.hasEnded() {
		p.end()
	} else {
		r.d.keep(r.req.Session, p)
	}
	return t.out
}

// errUnnoticed says that a kept process had ended, which nobody had noticed before.
var errUnnoticed = &failure.Error{}

// serve has a process run the turn.
func (r *run) serve(ctx context.Context) (*proc, *turn, *failure.Error) {
	p, reused, failed := r.process(ctx)
	if failed == nil {
		failed = r.ready(ctx, p)
	}
	if failed != nil {
		if reused && p.hasEnded() {
			failed = errUnnoticed
		}
		if p != nil {
			p.end()
		}
		return nil, nil, failed
	}
	r.emit([]agent.Event{agent.Init{SessionID: p.session, Dir: r.req.Dir, Model: cmp.Or(r.req.Model, "auto")}})
	t, failed := r.turn(ctx, p, reused)
	if failed == errUnnoticed && !reused {
		failed = p.explain()
	}
	return p, t, failed
}

// hasEnded reports whether the process has ended.
func (p *proc) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// ready brings a process to where it can take the prompt, and waits until it may.
func (r *run) ready(ctx context.Context, p *proc) *failure.Error {
	if failed := r.prepare(ctx, p); failed != nil || r.req.Ready == nil {
		return failed
	}
	select {
	case <-r.req.Ready:
		return nil
	case <-ctx.Done():
		return p.failure(ctx.Err())
	case <-p.ended:
		return p.explain()
	}
}

// process returns a process with a session for the turn: the one that has served the turn before, the first time, or a new one.
func (r *run) process(ctx context.Context) (p *proc, reused bool, failed *failure.Error) {
	want := launchOf(r.req, r.lacks())
	if p := r.kept; p != nil {
		r.kept = nil
		if !p.doomed.Load() && !p.hasEnded() && p.launch.equal(&want) && p.session == r.req.Resume {
			return p, true, nil
		}
		p.end()
		b := p.overheard()
		r.tell(b.texts(""))
	}
	if p, failed = r.start(ctx); failed == nil {
		failed = r.open(ctx, p)
	}
	return p, false, failed
}

func (r *run) lacks() []string { return r.d.launcher.Builds().Lacks(cmp.Or(r.req.Version, r.req.Bin)) }

// start starts a process and shakes hands with it. It tries again if the start lost the race for the agent's configuration, once, and if
// the build does not know an option that the turn does not need.
func (r *run) start(ctx context.Context) (*proc, *failure.Error) {
	lacks := r.lacks()
	for raced := false; ; {
		release := r.d.launcher.Enter(ctx)
		if release == nil {
			return nil, &failure.Error{Kind: failure.KindFailed, Message: "cancelled"}
		}
		l := launchOf(r.req, lacks)
		p, err := startProc(l, r.req.MaxLine)
		if err != nil {
			release()
			return nil, r.req.StartError(err)
		}
		answer, err := p.call(ctx, startTime, "initialize", initializeParams{
			ProtocolVersion: protocolVersion, Capabilities: caps{Meta: metaCaps{BareModels: true}},
			Info: client{Name: "cursord", Title: "cursord", Version: r.d.options.Version},
		})
		release()
		if err == nil {
			if failed := p.initialized(answer); failed != nil {
				p.end()
				return nil, failed
			}
			return p, nil
		}
		p.end()
		stderr, bare := p.said()
		said := stderr + bare
		if ctx.Err() == nil && errors.Is(err, errGone) && !p.spoke {
			if !raced && failure.LostRace(said) {
				raced = true
				continue
			}
			if name := agent.RefusedOption(said); name != "" {
				if a, given := l.find(name); given {
					if r.req.Settled != nil {
						r.req.Version = r.req.Settled()
					}
					r.d.launcher.Builds().Learn(cmp.Or(r.req.Version, r.req.Bin), name)
					if a.spare {
						lacks = append(lacks, name)
						continue
					}
					return nil, r.req.Lacking(name, failure.Detail(said))
				}
			}
			if strings.Contains(said, "unknown command") || !Serves(r.req.Version) {
				return nil, noMode(r.req.Version, said)
			}
		}
		return nil, p.failure(err)
	}
}

const protocolVersion = 1 // of ACP

// initialized takes in the agent's answer to initialize.
func (p *proc) initialized(answer jsontext.Value) *failure.Error {
	if version := answer.Get("protocolVersion"); !version.IsNull() {
		if n, ok := version.Int(); !ok || n != protocolVersion {
			return &failure.Error{
				Kind: failure.KindProtocol, Hint: "update cursord, or start a session with driver \"print\"",
				Message: fmt.Sprintf("the agent speaks version %s of ACP, and cursord speaks version %d", plaintext.OneLine("", string(version)), protocolVersion),
			}
		}
	}
	loads, said := answer.Get("agentCapabilities").Get("loadSession").Bool()
	p.forgets = said && !loads
	return nil
}

// open opens the session's chat. One that the agent does not have any more, or cannot load, is begun anew: the Init then has another id.
func (r *run) open(ctx context.Context, p *proc) *failure.Error {
	params := sessionParams{Cwd: r.req.Dir, MCPServers: []struct{}{}}
	if r.req.Resume != "" && !p.forgets {
		params.SessionID = r.req.Resume
		answer, err := p.call(ctx, startTime, "session/load", params)
		if err == nil {
			p.opened(r.req.Resume, answer)
			return nil
		}
		if !chatIsGone(err) {
			return p.failure(err)
		}
		params.SessionID = ""
	}
	answer, err := p.call(ctx, startTime, "session/new", params)
	if err != nil {
		return p.failure(err)
	}
	id := answer.Get("sessionId").Text()
	if id == "" {
		return &failure.Error{Kind: failure.KindProtocol, Message: "the agent opened a session without an id", Hint: "update it with `cursor-agent update`"}
	}
	p.opened(strings.Clone(id), answer)
	return nil
}

// chatIsGone reports whether the agent says that it does not have the chat it was to load, or can load none.
func chatIsGone(err error) bool {
	r := (*rejection)(nil)
	if errors.As(err, &r) && r.code == codeNoMethod {
		return true
	}
	return r != nil && (r.code == codeInvalid || r.code == -32002 || r.code == -32603) && strings.Contains(strings.ToLower(r.said), "not found")
}

func (p *proc) opened(session string, answer jsontext.Value) {
	p.session = session
	p.mode = answer.Get("modes").Get("currentModeId").Text()
}

// prepare brings the session into the turn's mode. A mode that only reads is never left out.
func (r *run) prepare(ctx context.Context, p *proc) *failure.Error {
	want := cmp.Or(r.req.Mode, "agent")
	if p.mode == want || p.mode == "" && want == "agent" {
		return nil
	}
	if _, err := p.call(ctx, startTime, "session/set_mode", modeParams{p.session, want}); err != nil {
		if rej := (*rejection)(nil); errors.As(err, &rej) {
			f := rej.failure("")
			f.Message = fmt.Sprintf("the agent cannot work in mode %q in this session: %s", want, f.Message)
			return f
		}
		return p.failure(err)
	}
	p.mode = want
	return nil
}

// turn runs the turn of a prepared process.
func (r *run) turn(ctx context.Context, p *proc, reused bool) (*turn, *failure.Error) {
	p.base = map[int]bool{}
	for _, m := range p.family.Running() {
		p.base[m.ID] = true
	}
	t := &turn{p: p, req: r.req, reused: reused, emit: r.emit, dec: newDecoder(r.req.Dir, time.Now, r.req.Enter != nil), patience: newPatience(p, r.req.IdleTimeout), done: make(chan struct{})}
	if r.req.Heard != nil {
		t.dec.upTo = r.req.Heard.UpTo
	}
	defer p.stream.Hear(r.req.Heard)()
	defer r.req.Control.Begin(agent.Reach{Answer: t.answer, Steer: t.steer})()
	if !p.do(func() { t.begin(r.req.Prompt) }) {
		return nil, errUnnoticed
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		p.do(t.cancel)
		late := time.AfterFunc(cancelTime, p.interrupt)
		defer late.Stop()
		<-t.done
	}
	p.mode = cmp.Or(t.dec.mode, p.mode)
	return t, nil
}

// leftTime is how long what a turn has started may take to end after it.
const leftTime = 250 * time.Millisecond

// left returns the processes that have been started since the turn began and run.
func (p *proc) left() []process.Member {
	return slices.DeleteFunc(p.family.Running(), func(m process.Member) bool { return p.base[m.ID] })
}

// left returns the processes that the turn's commands have left running.
func (r *run) left(p *proc) (left []process.Member) {
	for end := time.Now().Add(leftTime); ; time.Sleep(leftTime / 10) {
		left = p.left()
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// await waits for the commands that a turn has left in the background, for as long as the request says. They end with the process.
func (r *run) await(ctx context.Context, p *proc, t *turn, left []process.Member) {
	names := func() (list []string) {
		for _, m := range left {
			if !slices.ContainsFunc(left, func(other process.Member) bool { return other.ID == m.Parent }) && len(list) < 3 {
				list = append(list, plaintext.OneLine("", strings.TrimPrefix(m.Line, "sh -c ")))
			}
		}
		return list
	}
	if t.out.Status == agent.Completed && ctx.Err() == nil {
		r.emit([]agent.Event{agent.Waiting{Commands: names()}})
		grace := time.NewTimer(r.req.BackgroundGrace)
		defer grace.Stop()
		over := grace.C
		if r.req.AwaitBackground {
			over = nil
		}
		look := time.NewTicker(leftTime)
		defer look.Stop()
		for waiting := true; waiting && len(left) > 0; {
			select {
			case <-look.C:
				left = r.left(p)
				r.goOn(p, t)
			case <-over:
				waiting = false
			case <-ctx.Done():
				waiting = false
			case <-p.gone:
				waiting = false
			}
		}
		r.emit([]agent.Event{agent.Waiting{}})
	}
	if len(left) > 0 {
		r.emit([]agent.Event{agent.Notice{Text: "Commands that the agent had left in the background were ended with the turn: " + strings.Join(names(), "; ") +
			`. The setting background = "wait" has turns wait for such commands.`}})
	}
}

// explain says why a process has ended by itself.
func (p *proc) explain() *failure.Error {
	<-p.ended
	stderr, bare := p.said()
	return failure.Ending{Bare: bare, Stderr: stderr, Objects: p.spoke, Exit: p.exit}.Explain()
}

// failure explains why a call of the process failed.
func (p *proc) failure(err error) *failure.Error {
	if silent := (errSilent{}); errors.As(err, &silent) {
		p.kill()
		stderr, _ := p.said()
		return &failure.Error{Kind: failure.KindHung, Message: silent.Error(), Hint: "try again, or start a session with driver \"print\"", Detail: failure.Detail(stderr)}
	}
	if rej := (*rejection)(nil); errors.As(err, &rej) {
		stderr, _ := p.said()
		return rej.failure(stderr)
	}
	if errors.Is(err, errGone) {
		return p.explain()
	}
	if errors.As(err, &errEmpty{}) {
		return &failure.Error{Kind: failure.KindProtocol, Message: err.Error(), Hint: "update it with `cursor-agent update`"}
	}
	return &failure.Error{Kind: failure.KindFailed, Message: err.Error()}
}
