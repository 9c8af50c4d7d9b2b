package acp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/process"
)

const (
	graceTime = 2 * time.Second        // for an agent that has closed its stdout, or was told to end, to end by itself
	intTime   = 2 * time.Second        // between INT and TERM
	termTime  = 3 * time.Second        // between TERM and KILL
	drainTime = 500 * time.Millisecond // for what an ended agent left in its pipes
)

// errGone says that the process ended before it answered.
var errGone = errors.New("the agent's process has ended")

// A proc is a running agent. It serves one session of the agent's, one turn at a time.
type proc struct {
	launch launch // how it was started
	child  *process.Child
	family *process.Family
	stream *agent.Stream
	inbox  *queue[func()]
	outbox *queue[[]byte] // lines for the agent's stdin
	lines  chan lines
	ended  chan struct{} // closed when the process has ended; exit is known then
	gone   chan struct{} // closed when the process, and all that it has started, have ended

	fed      atomic.Int64 // lines for the agent's stdin of which something is in the pipe
	heardErr atomic.Int64 // when stderr last said something, since start; ns
	begun    time.Time
	ending   sync.Once
	doomed   atomic.Bool // it is being ended

	mu     sync.Mutex
	stderr agent.Tail // guarded by mu
	bare   agent.Tail // guarded by mu; lines of stdout that are no messages

	between between              // guarded by mu; what nobody has taken
	keep    func(texts []string) // guarded by mu; keeps what between tells, as long as no turn has the process
	told    []string             // guarded by mu; what it was given last

	// Of the goroutine that owns it.
	calls map[int64]pending // requests of ours that have no answer
	last  int64             // the id of the latest
	put   int64             // lines that were given to outbox
	turn  *turn             // nil while none runs
	spoke bool              // a message has come
	had   map[string]bool   // ids of calls of the turns that have ended, at most maxHad
	over  bool              // the agent's stdout has ended
	exit  process.Exit      // once over

	served bool // a turn has ended

	// Of the run that uses the process, which is one at a time.
	forgets bool         // the agent says that it loads no sessions
	session string       // the agent's id of its session
	mode    string       // the session's mode; "" if the agent has not said
	base    map[int]bool // processes that were there before the turn's commands
}

// lines are what was read at once. Who takes them in closes taken.
type lines struct {
	list    [][]byte
	skipped int64
	whole   bool // nothing else is read yet
	taken   chan struct{}
}

// A pending is a request of ours that waits for its answer. answer runs in the goroutine that owns the process.
type pending struct {
	method string
	answer func(result jsontext.Value, err error)
}

// startProc starts the program.
func startProc(l launch, maxLine int) (*proc, error) {
	cmd, err := l.command()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &proc{
		launch: l, child: child, family: process.NewFamily(child.Cmd.Process.Pid, l.mark), stream: agent.NewStream(child.Stdout, maxLine),
		inbox: newQueue[func()](), lines: make(chan lines), ended: make(chan struct{}), gone: make(chan struct{}), outbox: newQueue[[]byte](), begun: time.Now(),
		calls: map[int64]pending{},
	}
	var aside sync.WaitGroup
	aside.Go(p.read)
	aside.Go(p.readErrors)
	aside.Go(p.feed)
	go p.own(&aside)
	return p, nil
}

// read hands over what the agent writes, a line or many at a time.
func (p *proc) read() {
	const most, mostBytes = 256, 1 << 20
	defer close(p.lines)
	var b lines
	size := 0
	for {
		line, skipped, err := p.stream.Next()
		if len(line) > 0 {
			b.list = append(b.list, append([]byte(nil), line...))
			size += len(line)
		}
		b.skipped = max(b.skipped, skipped)
		if ready := err == nil && p.stream.Ready(); !ready || len(b.list) >= most || size >= mostBytes || skipped > 0 {
			b.whole, b.taken = !ready, make(chan struct{})
			p.lines <- b
			<-b.taken
			b, size = lines{}, 0
		}
		if err != nil {
			return
		}
	}
}

// readErrors keeps the end of stderr.
func (p *proc) readErrors() {
	s := agent.NewStream(p.child.Stderr, 1<<20)
	for {
		line, _, err := s.Next()
		if len(line) > 0 {
			p.heardErr.Store(int64(time.Since(p.begun)))
			p.mu.Lock()
			p.stderr.Add(string(line))
			p.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// said returns what the agent has written beside its messages: stderr, and lines of stdout.
func (p *proc) said() (stderr, bare string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String(), p.bare.String()
}

// feed writes to the agent's stdin. An agent that does not read it is noticed by its silence, one that has ended by its end.
func (p *proc) feed() {
	for range p.outbox.ready {
		lines, closed := p.outbox.take()
		for _, line := range lines {
			if n, _ := p.child.Stdin.Write(line); n > 0 {
				p.fed.Add(1)
			}
		}
		if closed {
			return
		}
	}
}

// do has the goroutine that owns p run f. It returns false if there is none any more.
func (p *proc) do(f func()) bool { return p.inbox.put(f) }

// own is the goroutine that owns p. It returns when everything has ended.
func (p *proc) own(aside *sync.WaitGroup) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	hold := time.NewTimer(time.Hour)
	defer hold.Stop()
	exited, in := p.child.Exited, p.lines
	var kill <-chan time.Time
	ended := false // by us, because it stayed after it had closed stdout
	for in != nil || exited != nil {
		select {
		case b, more := <-in:
			if !more {
				in, kill = nil, time.After(graceTime)
				continue
			}
			p.take(b)
			close(b.taken)
		case <-p.inbox.ready:
			list, _ := p.inbox.take()
			for _, f := range list {
				f()
			}
		case <-hold.C:
		case <-look.C:
			p.check()
		case <-kill:
			ended = true
			p.child.Kill()
		case x := <-exited:
			if exited, p.exit = nil, x; ended {
				p.exit = process.Exit{}
			}
			deadline := time.Now().Add(drainTime)
			p.child.Stdout.SetReadDeadline(deadline)
			p.child.Stderr.SetReadDeadline(deadline)
		}
		hold.Reset(p.hold())
	}
	p.over = true
	close(p.ended)
	p.stream.End()
	p.outbox.close()
	p.child.Stdin.Close()
	aside.Wait()
	p.family.End()
	p.inbox.close()
	left, _ := p.inbox.take()
	for _, f := range left {
		f()
	}
	if t := p.turn; t != nil {
		t.died()
	}
	for id, call := range p.calls {
		delete(p.calls, id)
		call.answer(nil, errGone)
	}
	p.child.Close()
	close(p.gone)
}

// hold begins the calls of the turn that have waited long enough, and returns when to look again.
func (p *proc) hold() time.Duration {
	if p.turn == nil {
		return time.Hour
	}
	if at, some := p.turn.dec.held(); some && time.Until(at) > 0 {
		return time.Until(at)
	} else if some {
		p.turn.emitBeside(p.turn.dec.release(nil))
		return p.hold() // others may wait
	}
	return time.Hour
}

// take takes in what was read.
func (p *proc) take(b lines) {
	var events []agent.Event
	t := p.turn
	for _, line := range b.list {
		events = p.message(events, line)
	}
	if b.skipped > 0 && t != nil {
		events = append(events, agent.Notice{Text: skippedText(b.skipped, t.req.MaxLine)})
	}
	emit := func([]agent.Event) {}
	if t != nil {
		t.heard = t.heard || len(b.list) > 0
		emit = t.emit
		t.note(events)
	}
	p.stream.Emit(events, b.whole, emit)
	if t != nil {
		t.ended()
	}
}

// notifications are the methods that may come without an id, or with null as one.
var notifications = []string{"session/update", "$/cancel_request", "cursor/update_todos"}

// message takes in one line.
func (p *proc) message(dst []agent.Event, line []byte) []agent.Event {
	m, ok := parse(line)
	if !ok {
		text := strings.ToValidUTF8(strings.TrimSpace(string(line)), "\uFFFD")
		if text == "" {
			return dst
		}
		p.mu.Lock()
		p.bare.Add(text)
		p.mu.Unlock()
		if p.turn == nil {
			return dst
		}
		return append(dst, agent.Unreadable{Line: cutLine(text)})
	}
	p.spoke = true
	switch t := p.turn; {
	case m.method == "" && (m.result != nil || m.err != nil || !m.other):
		p.response(m)
	case m.method == "":
		// nothing that can be answered
	case m.id != nil && string(m.id) != "null" && t == nil:
		if isQuestion(m.method) {
			p.overhear(m)
		}
		p.write(idleAnswer(m))
	case m.id != nil && string(m.id) != "null":
		var answer []byte
		dst, answer = t.request(dst, m)
		p.write(answer)
	case m.id != nil && !slices.Contains(notifications, strings.TrimPrefix(m.method, "_")):
		p.write(refusal(m.id, codeRequest, "a request needs an id that is not null"))
		if t != nil {
			dst = t.tellStrange(dst, m.method, "The agent asked for something with null as the request's id (%s). It was told no, and nobody was asked.")
		}
	case t == nil:
		p.overhear(m)
	case m.method == "session/update" && p.elsewhere(m.params):
		dst = t.tellElsewhere(dst)
	case m.method == "session/update":
		dst = t.recheck(t.dec.update(dst, m.params.Get("update")))
	case m.method == "$/cancel_request":
		dst = t.withdraw(dst, m.params.Get("requestId"))
	case strings.HasSuffix(m.method, "cursor/update_todos"):
		merge, _ := m.params.Get("merge").Bool()
		dst = t.dec.todoList(dst, m.params.Get("todos"), merge)
	}
	return dst
}

// response hands the answer to a request of ours to who waits for it.
func (p *proc) response(m message) {
	id, ok := m.id.Int()
	call, known := p.calls[id]
	if !ok || !known {
		// Old builds refuse session/cancel, which has no id.
		if code, _ := m.err.Get("code").Int(); code == codeNoMethod && p.turn != nil && p.turn.cancelled {
			p.interrupt()
		}
		return
	}
	delete(p.calls, id)
	switch {
	case m.err != nil:
		call.answer(nil, rejectionOf(call.method, m.err))
	case m.result == nil && call.method != "session/prompt" && call.method != "session/new": // who sends these looks into the result
		call.answer(nil, errEmpty{call.method})
	default:
		call.answer(m.result, nil)
	}
}

// request sends a request; answer runs in the goroutine that owns p, which must be the caller.
func (p *proc) request(method string, params any, answer func(jsontext.Value, error)) {
	if p.over {
		answer(nil, errGone)
		return
	}
	p.last++
	p.calls[p.last] = pending{method, answer}
	p.write(encode(ourRequest{Version: "2.0", ID: p.last, Method: method, Params: params}))
}

// call sends a request and waits for its answer, which no turn may do meanwhile. It fails with a rejection, with errGone, with an
// errSilent if the agent says nothing for longer than limit, or with the error of ctx.
func (p *proc) call(ctx context.Context, limit time.Duration, method string, params any) (jsontext.Value, error) {
	type answer struct {
		result jsontext.Value
		err    error
	}
	answers := make(chan answer, 1)
	if !p.do(func() {
		p.request(method, params, func(result jsontext.Value, err error) { answers <- answer{jsontext.Value(result.Copy()), err} })
	}) {
		return nil, errGone
	}
	quiet := newPatience(p, limit)
	look := time.NewTicker(quiet.step())
	defer look.Stop()
	for {
		select {
		case a := <-answers:
			return a.result, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-look.C:
			if quiet.over() {
				return nil, errSilent{method, limit}
			}
		}
	}
}

// write sends a line to the agent's stdin; nil is none.
func (p *proc) write(line []byte) {
	if line != nil {
		p.put++
		p.outbox.put(line)
	}
}
