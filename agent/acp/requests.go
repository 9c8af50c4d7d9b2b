package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// An ask is a request of the agent's that a person answers. A request with several questions is as many approvals, and is answered
// when each of them is.
type ask struct {
	id    json.RawMessage // of the request
	kind  agent.ApprovalKind
	shown agent.ApprovalRequested // of a permission: what a person is asked, without what the request alone says
	said  []string                // and the texts of the call's content that say more than its command
	call  string                  // the id of the call that it is about, or ""; the one that questions or a plan are
	parts []part
}

// A part is one approval of an ask.
type part struct {
	approval string
	question json.RawMessage // the agent's id of it
	prompt   string          // what it asks, in the agent's words
	options  []agent.ApprovalOption
	ids      []json.RawMessage // the agent's of the options, as it has written them; nil where it has none
	text     bool
	several  bool                  // the agent takes several options; a text names them
	answer   *agent.ApprovalAnswer // nil: none yet
}

// offer adds an option, with the agent's id of it.
func (p *part) offer(o agent.ApprovalOption, id jsontext.Value) {
	p.options, p.ids = append(p.options, o), append(p.ids, id.Copy())
}

// noID is the id of the option that cursord adds where the agent offers no way to refuse.
const noID = "cursord-no"

// request answers a request of the agent's, or has a person answer it. It returns the line to write, or nil if that comes later.
func (t *turn) request(dst []agent.Event, m message) ([]agent.Event, []byte) {
	params := m.params
	if t.isOpen(m.id) {
		return dst, refusal(m.id, codeRequest, "a request with this id has no answer yet")
	}
	switch method := strings.TrimPrefix(m.method, "_"); method {
	case "session/request_permission":
		return t.permission(dst, m.id, params)
	case "cursor/ask_question":
		return t.questions(dst, m.id, params)
	case "cursor/create_plan":
		return t.plan(dst, m.id, params)
	case "cursor/update_todos":
		merge, _ := params.Get("merge").Bool()
		return t.dec.todoList(dst, params.Get("todos"), merge), result(m.id, nothing{})
	case "cursor/task", "cursor/generate_image":
		return dst, result(m.id, nothing{}) // a tool call tells the rest
	}
	dst = t.tellStrange(dst, m.method, "The agent asked for something that cursord does not know (%s). It was told so, and goes on without it.")
	return dst, refusal(m.id, codeNoMethod, "cursord does not know this method")
}

// tellStrange tells people of a method's request that nobody is asked, once.
func (t *turn) tellStrange(dst []agent.Event, method, format string) []agent.Event {
	name := plaintext.Cut(method, maxMethod)
	if slices.Contains(t.strange, name) || len(t.strange) == maxStrange {
		return dst
	}
	t.strange = append(t.strange, strings.Clone(name))
	return append(dst, agent.Notice{Text: fmt.Sprintf(format, plaintext.OneLine("", name))})
}

// elsewhere reports whether an update is of another session than the process's. An agent that names none means this one.
func (p *proc) elsewhere(params jsontext.Value) bool {
	id := params.Get("sessionId")
	return p.session != "" && id.IsString() && id.Text() != "" && id.Text() != p.session
}

// tellElsewhere tells people once that updates of another session are left out.
func (t *turn) tellElsewhere(dst []agent.Event) []agent.Event {
	t.dec.unknown["acp/update of another session"]++
	if t.foreign {
		return dst
	}
	t.foreign = true
	return append(dst, agent.Notice{Text: "The agent sent updates of another session than this one. They are not shown here. Look at its changes of files with care."})
}

// isOpen reports whether a request with this id waits for a person. An agent could take the answer for that of another one.
func (t *turn) isOpen(id jsontext.Value) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.asks, func(a *ask) bool { return string(a.id) == string(id) })
}

const (
	maxMethod  = 100 // bytes of a method's name that is shown
	maxStrange = 20  // unknown methods that a turn has notices of
)

// idleAnswer answers a request that comes while no turn runs: nobody is asked, and nothing is allowed.
func idleAnswer(m message) []byte {
	switch method := strings.TrimPrefix(m.method, "_"); {
	case isQuestion(method):
		return result(m.id, outcomeResult{outcome{Outcome: "cancelled"}})
	case slices.Contains([]string{"cursor/update_todos", "cursor/task", "cursor/generate_image"}, method):
		return result(m.id, nothing{})
	}
	return refusal(m.id, codeNoMethod, "cursord does not know this method")
}

// isQuestion reports whether a request is for a person.
func isQuestion(method string) bool {
	return slices.Contains([]string{"session/request_permission", "cursor/ask_question", "cursor/create_plan"}, strings.TrimPrefix(method, "_"))
}

func result(id jsontext.Value, v any) []byte {
	return encode(ourResult{Version: "2.0", ID: json.RawMessage(id), Result: v})
}

func refusal(id jsontext.Value, code int, text string) []byte {
	return encode(ourError{Version: "2.0", ID: json.RawMessage(id), Error: errorObject{code, text}})
}

// ask enters an ask, and appends its requests.
func (t *turn) ask(dst []agent.Event, a *ask, requests []agent.ApprovalRequested, parts ...part) ([]agent.Event, []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range parts {
		t.asked++
		parts[i].approval = fmt.Sprintf("a%d", t.asked)
		requests[i].ID = parts[i].approval
		dst = append(dst, requests[i])
	}
	a.parts = parts
	t.asks = append(t.asks, a)
	return dst, nil
}

// answer is Control.Answer. It may be called from any goroutine.
func (t *turn) answer(approval string, given agent.ApprovalAnswer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.asks {
		i := slices.IndexFunc(a.parts, func(p part) bool { return p.approval == approval && p.answer == nil })
		if i < 0 {
			continue
		}
		a.parts[i].answer = &given
		if slices.ContainsFunc(a.parts, func(p part) bool { return p.answer == nil }) {
			return nil
		}
		t.p.do(func() { t.settle(a) })
		return nil
	}
	return agent.ErrUnknownApproval
}

// settle gives the agent the answer to an ask, after the events that it leads to, unless the ask was taken back meanwhile.
func (t *turn) settle(a *ask) {
	t.mu.Lock()
	i := slices.Index(t.asks, a)
	if i >= 0 {
		t.asks = slices.Delete(t.asks, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		return
	}
	var events []agent.Event
	switch a.kind {
	case agent.ApprovalPermission:
		events = t.dec.answered(nil, a.call, a.refusal())
	case agent.ApprovalQuestion:
		events = t.dec.replied(nil, a.call, a.reply(), "")
	case agent.ApprovalPlan:
		accepted, refused := a.decision()
		events = t.dec.replied(nil, a.call, accepted, refused)
		t.carries = t.carries || refused == "" && a.parts[0].answer.CarryOut
	}
	t.emitBeside(append(events, a.notices(cmp.Or(t.dec.mode, t.req.Mode))...))
	t.p.write(result(jsontext.Value(a.id), outcomeResult{a.outcome()}))
}

// chosen returns the option that a part's answer chooses; nil if it chooses none of the part's.
func (p *part) chosen() *agent.ApprovalOption {
	if i := p.choice(); i >= 0 {
		return &p.options[i]
	}
	return nil
}

func (p *part) choice() int {
	if p.answer == nil || p.answer.Cancelled {
		return -1
	}
	return slices.IndexFunc(p.options, func(o agent.ApprovalOption) bool { return o.ID == p.answer.OptionID })
}

// choices returns the options that are chosen: one, or those that a text names by numbers, ids or labels, where the agent takes several.
func (p *part) choices() (all []int) {
	if i := p.choice(); i >= 0 {
		all = append(all, i)
	}
	if !p.several || p.answer == nil || p.answer.Cancelled {
		return all
	}
	names := make([][]string, len(p.options))
	for i, o := range p.options {
		names[i] = []string{o.ID, o.Label}
	}
	for _, i := range plaintext.Chosen(p.answer.Text, names) {
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

// allows reports whether an option is a yes.
func allows(o *agent.ApprovalOption) bool {
	return o != nil && (o.Kind == agent.AllowOnce || o.Kind == agent.AllowAlways)
}

// refusal returns why a permission is not given; "" if it is.
func (a *ask) refusal() string {
	p := &a.parts[0]
	switch o := p.chosen(); {
	case allows(o):
		return ""
	case p.answer != nil && p.answer.Unasked != "":
		return p.answer.Unasked
	case o != nil:
		return "a person refused it"
	}
	return "nobody allowed it"
}

// outcome is the answer in the agent's words.
func (a *ask) outcome() outcome {
	first := &a.parts[0]
	switch a.kind {
	case agent.ApprovalPlan:
		switch o := first.chosen(); {
		case allows(o):
			return outcome{Outcome: "accepted"}
		case o != nil, first.answer != nil && !first.answer.Cancelled && first.answer.Text != "":
			return outcome{Outcome: "rejected", Reason: cmp.Or(first.answer.Text, first.answer.Unasked)}
		}
		return outcome{Outcome: "cancelled"}
	case agent.ApprovalQuestion:
		answers := []answered{}
		for i := range a.parts {
			p := &a.parts[i]
			if all := p.choices(); len(all) > 0 {
				one := answered{QuestionID: p.question}
				for _, i := range all {
					one.Selected = append(one.Selected, p.ids[i])
				}
				answers = append(answers, one)
			} else if !p.several && p.text && p.answer != nil && !p.answer.Cancelled && p.answer.Text != "" {
				answers = append(answers, answered{p.question, []json.RawMessage{jsontext.Quote(p.answer.Text)}})
			}
		}
		if len(answers) == 0 {
			return outcome{Outcome: "skipped", Reason: "nobody answered"}
		}
		return outcome{Outcome: "answered", Answers: answers}
	}
	if i := first.choice(); i >= 0 && first.options[i].ID != noID {
		return outcome{Outcome: "selected", OptionID: first.ids[i]}
	}
	return outcome{Outcome: "cancelled"}
}

// withdraw takes back the request with this id, which the agent has cancelled.
func (t *turn) withdraw(dst []agent.Event, id jsontext.Value) []agent.Event {
	t.mu.Lock()
	i := slices.IndexFunc(t.asks, func(a *ask) bool { return string(a.id) == string(id) })
	if i < 0 {
		t.mu.Unlock()
		return dst
	}
	a := t.asks[i]
	t.asks = slices.Delete(t.asks, i, i+1)
	t.mu.Unlock()
	for _, p := range a.parts {
		if p.answer == nil {
			dst = append(dst, agent.ApprovalWithdrawn{ID: p.approval})
		}
	}
	const why = "the agent no longer asks for it"
	if a.kind == agent.ApprovalPermission {
		dst = t.dec.answered(dst, a.call, why)
	} else {
		dst = t.dec.replied(dst, a.call, "", why)
	}
	t.p.write(refusal(jsontext.Value(a.id), codeCancelled, "cancelled"))
	return dst
}

// dropAsks answers every open request by a no: the turn ends.
func (t *turn) dropAsks() {
	t.mu.Lock()
	asks := t.asks
	t.asks = nil
	t.mu.Unlock()
	for _, a := range asks {
		if a.kind == agent.ApprovalPermission {
			t.dec.dropped(a.call)
		}
		t.p.write(result(jsontext.Value(a.id), outcomeResult{outcome{Outcome: "cancelled"}}))
	}
}
