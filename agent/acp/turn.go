package acp

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// A turn is what a process does for one run, from the prompt to the last answer. It belongs to the goroutine that owns the process, except
// for what mu guards.
type turn struct {
	p        *proc
	req      *agent.Request
	emit     func([]agent.Event)
	dec      *decoder
	patience *patience
	done     chan struct{} // closed at the end; out is set then
	out      agent.Outcome

	line      int64 // of those for the agent's stdin, the one with the prompt
	unsent    bool  // the process had ended before it could get that, as far as can be seen
	reused    bool  // the process has served another turn before
	heard     bool  // it has said something since the turn began
	cancelled bool  // the run's context has ended
	hung      *failure.Error
	stop      string       // the stop reason of the last answer
	odd       string       // … if it is no text: what it is
	refused   error        // why the agent refused the prompt
	answered  bool         // the agent has answered all prompts
	closing   bool         // … and the events before the answer are not emitted yet
	ran       bool         // a call has run that may leave something running
	carries   bool         // a person has accepted a plan, and the turn is to carry it out
	strange   []string     // unknown methods of requests
	foreign   bool         // people were told of updates of another session
	own       int          // questions and plans with ids of our own
	usage     *agent.Usage // of the last answer

	mu      sync.Mutex
	asks    []*ask // guarded by mu
	asked   int    // guarded by mu; number of approvals so far
	prompts int    // guarded by mu; that the agent has not answered
}

const (
	lateTime   = 300 * time.Millisecond // for reports of ends behind the answer to a prompt
	cancelTime = 3 * time.Second        // for an agent to answer the prompt after session/cancel, before it gets signals
)

// begin sends the prompt. It runs in the goroutine that owns the process.
func (t *turn) begin(text string) {
	t.p.turn, t.unsent = t, t.p.over
	t.dec.earlier = t.p.had
	t.tellBetween()
	t.patience.restart()
	t.prompt(text)
	t.line = t.p.put
}

// prompt sends a prompt, of the turn or to steer it.
func (t *turn) prompt(text string) {
	t.mu.Lock()
	first := t.prompts == 0
	t.prompts++
	t.mu.Unlock()
	t.send(text, first)
}

func (t *turn) send(text string, first bool) {
	params := promptParams{SessionID: t.p.session, Prompt: []block{{Type: "text", Text: text}}}
	t.p.request("session/prompt", params, func(result jsontext.Value, err error) { t.prompted(first, result, err) })
}

// steer is Control.Steer. It may be called from any goroutine.
func (t *turn) steer(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.prompts == 0 || !steers(t.p.launch.version) {
		return agent.ErrCannotSteer
	}
	if !t.p.do(func() { t.send(text, false) }) {
		return agent.ErrCannotSteer
	}
	t.prompts++
	return nil
}

// prompted takes the answer to a prompt. The last one ends the turn.
func (t *turn) prompted(first bool, result jsontext.Value, err error) {
	t.mu.Lock()
	t.prompts--
	last := t.prompts == 0
	t.mu.Unlock()
	switch {
	case err == nil:
		stop := result.Get("stopReason")
		t.refused, t.stop, t.odd = nil, stop.Text(), ""
		if t.stop == "" {
			t.odd = plaintext.OneLine("", string(stop))
		}
		t.usage = usageOf(result.Get("usage"))
	case err == errGone:
		return
	case first:
		t.refused = err
	default:
		t.emitBeside([]agent.Event{agent.Notice{Text: "The agent did not take what was added to its turn: " + plaintext.OneLine("", err.Error())}})
	}
	if last && err == nil && t.carryOut() {
		return
	}
	t.answered, t.closing = last, last
}

func usageOf(v jsontext.Value) *agent.Usage {
	if !v.IsObject() {
		return nil
	}
	count := func(keys ...string) int64 { n, _ := v.Get(keys...).Int(); return n }
	return &agent.Usage{
		Input: count("inputTokens", "input_tokens"), Output: count("outputTokens", "output_tokens"),
		CacheRead: count("cachedReadTokens", "cacheReadTokens"), CacheWrite: count("cachedWriteTokens", "cacheWriteTokens"),
	}
}

// ended ends the turn if the agent has answered. Some builds report ends of calls a little later.
func (t *turn) ended() {
	if !t.closing || t.p.turn != t {
		return
	}
	t.closing = false
	if len(t.dec.calls) == 0 || t.refused != nil || t.cancelled {
		t.finish()
		return
	}
	time.AfterFunc(lateTime, func() { t.p.do(t.finish) })
}

// finish ends the turn.
func (t *turn) finish() {
	if t.p.turn != t {
		return
	}
	t.dropAsks()
	var events []agent.Event
	if !t.cancelled && t.refused == nil {
		events = t.dec.closeCalls(t.dec.endThought(nil))
	} else {
		events = t.dec.closeWritten(nil)
	}
	out := agent.Outcome{Status: agent.Completed, Usage: t.usage}
	stop := stopReasons[t.stop]
	stderr, _ := t.p.said()
	switch {
	case t.cancelled:
		out.Status = agent.Cancelled
	case t.refused != nil:
		out.Status = agent.Failed
		if r, ok := t.refused.(*rejection); ok {
			out.Failure = r.failure(stderr)
		} else {
			out.Failure = &failure.Error{Kind: failure.KindFailed, Message: t.refused.Error()}
		}
	case t.dec.lastError() != "":
		out.Status, out.Failure = agent.Failed, connectionLost(t.dec.lastError())
	case t.stop == "cancelled":
		out.Status = agent.Failed
		out.Failure = &failure.Error{
			Kind: failure.KindFailed, Message: "the agent cancelled the turn, which nobody had asked for", Hint: "look at what it did and try again",
		}
	case stop == agent.StopRefusal:
		out.Status, out.Stop = agent.Failed, stop
		out.Failure = &failure.Error{Kind: failure.KindFailed, Message: "the model refused to go on", Hint: "ask in other words, or choose another model"}
	case stop != "":
		out.Stop = stop
		events = append(events, agent.Notice{Text: "The agent stopped before it was done, because it reached a limit (" + t.stop + "). Ask it to go on."})
	}
	if out.Status == agent.Completed && t.stop != "end_turn" && stop == "" {
		events = append(events, agent.Notice{Text: oddStop(t.stop, t.odd)})
	}
	t.over(events, out)
}

// oddStop tells people of a turn's end for no known reason.
func oddStop(said, odd string) string {
	text := "The agent has ended the turn without saying why"
	if said != "" {
		text = "The agent has ended the turn for a reason that cursord does not know (" + plaintext.OneLine("", said) + ")"
	} else if odd != "" {
		text += " (its stopReason is " + odd + ")"
	}
	return text + ". Look whether it is done."
}

// stopReasons are ACP's reasons other than that the agent was done, or cancelled.
var stopReasons = map[string]agent.StopReason{
	"max_tokens": agent.StopMaxTokens, "max_turn_requests": agent.StopMaxRequests, "refusal": agent.StopRefusal,
}

// connectionLost explains an error that the agent has written as text.
func connectionLost(said string) *failure.Error {
	if f, known := failure.Classify(said, true); known {
		return f
	}
	return &failure.Error{Kind: failure.KindFailed, Message: failure.Plain(said), Hint: "the agent's connection to Cursor failed; try again"}
}

// died ends a turn whose process has ended.
func (t *turn) died() {
	t.dropAsks()
	out := agent.Outcome{Status: agent.Failed, Failure: t.hung}
	switch {
	case t.cancelled:
		out.Status, out.Failure = agent.Cancelled, nil
	case t.hung == nil:
		out.Failure = t.p.explain()
		// A kept process that dies in silence was being killed when the prompt came. It has run nothing, because it announces all that it runs.
		t.unsent = t.unsent || t.p.fed.Load() < t.line || t.reused && !t.heard
	}
	t.over(t.dec.closeWritten(nil), out)
}

// over tells the end.
func (t *turn) over(events []agent.Event, out agent.Outcome) {
	out.SessionID, out.Unknown = t.p.session, t.dec.unknown
	if said := t.dec.said.String(); said != "" {
		out.Result = &said
	}
	t.mu.Lock()
	t.prompts = 0
	t.mu.Unlock()
	t.p.turn, t.p.served = nil, true
	t.p.had = t.dec.known()
	if len(events) > 0 {
		t.note(events)
		t.p.stream.EmitBeside(events, t.emit)
	}
	t.out = out
	close(t.done)
}

// emitBeside emits what does not come from a line.
func (t *turn) emitBeside(events []agent.Event) {
	if len(events) > 0 && t.p.turn == t {
		t.note(events)
		t.p.stream.EmitBeside(events, t.emit)
	}
}

// note keeps what the run needs to know of the events. It marks the end of a call that has left something running.
func (t *turn) note(events []agent.Event) {
	for i, ev := range events {
		switch ev := ev.(type) {
		case agent.ToolStart:
			t.mayLeave(&ev.Call)
		case agent.ToolEnd:
			t.mayLeave(&ev.Call)
			if ev.Call.Writes() == agent.WritesAnything && !t.dec.inCommand() && len(t.p.left()) > 0 {
				ev.Call.Background = true
				events[i] = ev
			}
		}
	}
}

func (t *turn) mayLeave(call *agent.Call) {
	t.ran = t.ran || call.Name != "mcp" && call.Writes() == agent.WritesAnything
}

// cancel asks the agent to stop. It runs in the goroutine that owns the process.
func (t *turn) cancel() {
	if t.p.turn != t || t.cancelled || t.answered {
		return
	}
	t.cancelled = true
	t.dropAsks()
	t.p.write(encode(ourNotification{Version: "2.0", Method: "session/cancel", Params: cancelParams{t.p.session}}))
}

// check ends an agent that is silent for too long. A person may take as long to answer as the daemon lets them.
func (p *proc) check() {
	t := p.turn
	if t == nil || t.hung != nil {
		return
	}
	t.mu.Lock()
	waits := len(t.asks) > 0
	t.mu.Unlock()
	if waits {
		t.patience.restart()
		return
	}
	setting := "agent_idle_timeout"
	t.patience.limit = t.req.IdleTimeout
	if t.dec.inCall() {
		t.patience.limit, setting = t.req.ToolTimeout, "agent_tool_timeout"
	}
	if !t.patience.over() {
		return
	}
	what := "no tool call was open"
	if titles := t.dec.openTitles(); len(titles) > 0 {
		what = "while a tool ran: " + strings.Join(titles[:min(len(titles), 3)], "; ")
	}
	stderr, _ := p.said()
	t.hung = &failure.Error{
		Kind:    failure.KindHung,
		Message: fmt.Sprintf("the agent was silent for %v (%s), and was ended", t.patience.limit, what),
		Hint:    "try again, or raise " + setting + " in the configuration", Detail: failure.Detail(stderr),
	}
	p.kill()
}

func skippedText(size int64, limit int) string {
	return fmt.Sprintf("a line of %.1f MiB from the agent was skipped: the limit is %.1f MiB", float64(size)/(1<<20), float64(limit)/(1<<20))
}

// cutLine shortens a line that is no message.
func cutLine(line string) string {
	const most = 4 << 10
	if len(line) > most {
		return fmt.Sprintf("%s…(%d bytes)", plaintext.Cut(line, most), len(line))
	}
	return line
}
