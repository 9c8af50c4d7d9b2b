package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// questions has a person answer the agent's questions. They are a call, which ends with the answers.
func (t *turn) questions(dst []agent.Event, id, params jsontext.Value) ([]agent.Event, []byte) {
	o := params.Object(nil)
	a := &ask{id: id.Copy(), kind: agent.ApprovalQuestion, call: t.callOf(o, "question")}
	var requests []agent.ApprovalRequested
	var parts []part
	says := strings.TrimSpace(o.Text("title")) != ""
	for q := range o.Get("questions").Elements() {
		if len(parts) == maxParts {
			break
		}
		p := part{question: idOf(q), prompt: q.Object(nil).Text("prompt", "question")}
		for v := range q.Get("options").Elements() {
			option := agent.ApprovalOption{ID: v.Get("id").Name(), Label: plaintext.Joined(v.Object(nil).Text("label", "name")), Kind: agent.Answer}
			if option.Label == "" {
				option.Label = option.ID
			}
			if option.ID != "" && len(p.options) < maxOptions {
				p.offer(option, v.Get("id"))
			}
		}
		several := q.Object(nil).Get("allowMultiple", "allow_multiple", "multiSelect")
		p.several = len(p.options) > 1 && string(several) == "true"
		p.text = len(p.options) == 0 || p.several
		says = says || len(p.options) > 0 || strings.TrimSpace(p.prompt) != ""
		r := agent.ApprovalRequested{Kind: a.kind, CallID: a.call, Title: plaintext.OneLine("", p.prompt), Options: p.options, Text: p.text, Several: p.several}
		if r.Title != p.prompt {
			r.Detail = p.prompt
		}
		if p.several {
			r.Detail = strings.TrimSpace(r.Detail + "\nSeveral answers are possible: name them in a text, by numbers with commas between, such as \"1, 2\".")
		}
		if r.Title == "" {
			if r.Title = plaintext.OneLine("", o.Text("title")); r.Title == "" {
				r.Title = "The agent asks"
			}
		}
		requests, parts = append(requests, r), append(parts, p)
	}
	if len(parts) == 0 || !says {
		dst = t.tellStrange(dst, "cursor/ask_question", "The agent asked a question in a form that cursord does not know (%s). It was told that there was no question, and goes on without an answer.")
		return dst, result(id, outcomeResult{outcome{Outcome: "skipped", Reason: "there was no question"}})
	}
	return t.ask(t.dec.putToPerson(dst, a.call, questionTool, params), a, requests, parts...)
}

// idOf returns a question's id as the agent has written it, "" if it has none.
func idOf(q jsontext.Value) json.RawMessage {
	if id := q.Get("id"); id.Name() != "" {
		return id.Copy()
	}
	return json.RawMessage(`""`)
}

// putToPerson begins the call that questions or a plan are: it is open until a person has answered. The agent may have announced it.
func (d *decoder) putToPerson(dst []agent.Event, id, tool string, params jsontext.Value) []agent.Event {
	c := d.calls[id]
	if c == nil {
		c = &call{report: agent.CallReport{ID: id}, status: "in_progress"}
		d.calls[id] = c
		d.order = append(d.order, id)
	}
	c.tool, c.report.RawName, c.report.Args = tool, tool, params.Copy()
	c.asks++
	if c.started {
		return dst
	}
	return d.start(dst, c, time.Time{})
}

// The names in print mode of the tools that ask.
const (
	questionTool = "askQuestion"
	planTool     = "createPlan"
)

// replied ends a call that was put to a person: with what they have answered, or with why it was refused.
func (d *decoder) replied(dst []agent.Event, id, reply, refused string) []agent.Event {
	c := d.calls[id]
	if c == nil {
		return dst
	}
	c.result, c.text, c.refused = nil, reply, refused
	return d.finish(dst, c, false)
}

// reply is what a person has answered, for people: each question and below it the answer.
func (a *ask) reply() string {
	var b strings.Builder
	for i := range a.parts {
		p := &a.parts[i]
		if i > 0 {
			b.WriteString("\n")
		}
		if p.prompt != "" {
			b.WriteString(p.prompt + "\n")
		}
		b.WriteString("→ " + p.reply() + "\n")
	}
	return b.String()
}

func (p *part) reply() string {
	var labels []string
	for _, i := range p.choices() {
		labels = append(labels, p.options[i].Label)
	}
	switch {
	case len(labels) > 0:
		return strings.Join(labels, ", ")
	case p.several && p.answer != nil && !p.answer.Cancelled && p.answer.Text != "":
		return "(no answer: " + p.answer.Text + " names no options)"
	case p.text && p.answer != nil && !p.answer.Cancelled && p.answer.Text != "":
		return p.answer.Text
	}
	if p.answer != nil && p.answer.Unasked != "" {
		return "(no answer: " + p.answer.Unasked + ")"
	}
	return "(no answer)"
}

// The options of a plan.
var planOptions = []agent.ApprovalOption{
	{ID: "accept", Label: "Accept the plan", Kind: agent.AllowOnce}, {ID: "reject", Label: "Reject the plan", Kind: agent.RejectOnce},
}

// plan has a person decide about a plan, which is a call until then.
func (t *turn) plan(dst []agent.Event, id, params jsontext.Value) ([]agent.Event, []byte) {
	o := params.Object(nil)
	text := agent.PlanText(o)
	if strings.TrimSpace(text) == "" {
		dst = t.tellStrange(dst, "cursor/create_plan", "The agent asked whether to carry out a plan that has no text (%s). It was told no.")
		return dst, result(id, outcomeResult{outcome{Outcome: "rejected", Reason: "the plan has no text"}})
	}
	a := &ask{id: id.Copy(), kind: agent.ApprovalPlan, call: t.callOf(o, "plan")}
	return t.ask(t.dec.putToPerson(dst, a.call, planTool, params), a, []agent.ApprovalRequested{{
		Kind: a.kind, CallID: a.call, Title: plaintext.OneLine("Plan", o.Text("name")), Detail: text, Options: planOptions, Text: true,
	}}, part{options: planOptions, text: true})
}

// callOf returns the id of the call that a request is about: one of our own if it names none, or one that has ended.
func (t *turn) callOf(o jsontext.Object, kind string) string {
	id := o.Get("toolCallId").Name()
	if t.dec.calls[id] != nil || id != "" && !t.dec.ended[id] {
		return id
	}
	t.own++
	return fmt.Sprintf("%s-%d", kind, t.own)
}

// decision is what a person has decided about a plan, for people: a yes, or why it is none.
func (a *ask) decision() (accepted, refused string) {
	p := &a.parts[0]
	switch o := p.chosen(); {
	case allows(o):
		return "The plan was accepted.", ""
	case p.answer != nil && p.answer.Unasked != "":
		return "", "the plan was rejected: " + p.answer.Unasked
	case p.answer != nil && !p.answer.Cancelled && p.answer.Text != "":
		return "", "the plan was rejected: " + p.answer.Text
	case o != nil:
		return "", "the plan was rejected"
	}
	return "", "nobody decided about the plan"
}

// notices say what follows from an answer, where that is not obvious.
func (a *ask) notices(mode string) []agent.Event {
	if a.kind != agent.ApprovalPlan || !allows(a.parts[0].chosen()) || mode != "plan" || a.parts[0].answer.CarryOut {
		return nil
	}
	return []agent.Event{agent.Notice{Text: `The plan was accepted. This turn only plans: start one in mode "agent" to have the plan carried out.`}}
}

// planPrompt is what the agent is asked once a person has accepted its plan. In the agent's mode plan a turn ends with the plan.
const planPrompt = "The plan was accepted. Carry it out."

// carryOut has the agent go on in mode agent, unless it has chosen that mode itself. It returns false if the turn is to end.
func (t *turn) carryOut() bool {
	if !t.carries || t.cancelled || t.refused != nil || t.stop != "end_turn" || t.dec.mode == "agent" {
		return false
	}
	t.carries = false
	t.p.request("session/set_mode", modeParams{t.p.session, "agent"}, func(_ jsontext.Value, err error) {
		switch {
		case err == errGone:
		case err != nil || t.cancelled:
			if err != nil {
				t.emitBeside([]agent.Event{agent.Notice{Text: "The plan is not carried out, because the agent did not go on in mode agent: " + plaintext.OneLine("", err.Error())}})
			}
			t.answered, t.closing = true, true
		default:
			t.dec.mode = "agent"
			t.prompt(planPrompt)
		}
	})
	return true
}
