package acp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// This file keeps what the agent says and does while no turn takes it in, such as that a command in the background has ended. While the run of the
// turn before waits for that command, its words are of that turn. Else the next turn tells all as notices, since a turn that has ended is not
// changed; Options.Keep has them until then, so that they outlive the process and the daemon. Nobody has looked at the files before such a call,
// so that what it changes cannot be put under review.

const (
	maxOverheard = 16 << 10 // bytes of such words that are kept
	maxTold      = 2 << 10  // bytes of the notice
	maxAside     = 20       // calls that are named, and so many questions
	maxAsideIDs  = 1000     // of each that are counted
	maxAsideName = 200      // bytes of the name of one
)

// A between is what the agent has said and done since the last turn.
type between struct {
	words string
	did   names // calls that began
	asked names // what it asked for, and was refused
}

// names are titles, each for an id of its own. Behind the first maxAside ids are only counted.
type names struct{ ids, list []string }

func (n *names) add(id, name string) {
	if id = plaintext.Cut(id, maxAsideName); len(n.ids) == maxAsideIDs || slices.Contains(n.ids, id) {
		return
	}
	if n.ids = append(n.ids, strings.Clone(id)); len(n.list) < maxAside {
		n.list = append(n.list, strings.Clone(plaintext.OneLine("", plaintext.Cut(name, maxAsideName))))
	}
}

func (n *names) String() string {
	all := strings.Join(n.list, "; ")
	if more := len(n.ids) - len(n.list); more > 0 {
		all += fmt.Sprintf("; and %d more", more)
	}
	return all
}

// size is 0 if there is nothing, and grows with all that is added.
func (b *between) size() int { return len(b.words) + len(b.did.ids) + len(b.asked.ids) }

func (b *between) hear(text string) {
	b.words += plaintext.Cut(text, max(maxOverheard-len(b.words), 0))
}

// overhear takes in a message that comes while no turn takes messages. Before the process serves its first turn, that is a chat being loaded: old
// text, which is left out.
func (p *proc) overhear(m message) {
	if !p.served || p.elsewhere(m.params) {
		return
	}
	u, call := m.params.Get("update"), m.params.Get("toolCall")
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.keepBetween(p.between.size())
	switch kind := u.Get("sessionUpdate").Text(); {
	case m.id != nil && call.Get("toolCallId").Text() != "":
		p.between.asked.add(call.Get("toolCallId").Text(), asideName(call))
	case m.id != nil:
		p.between.asked.add(string(m.id), strings.TrimPrefix(strings.TrimPrefix(m.method, "_"), "cursor/"))
	case kind == "agent_message_chunk":
		p.between.hear(blockText(u.Get("content")))
	case kind == "tool_call", kind == "tool_call_update":
		if id := u.Get("toolCallId").Text(); id != "" && (kind == "tool_call" || !p.had[id]) {
			p.between.did.add(id, asideName(u))
		}
	}
}

const noName = "a call without a name"

// asideName names a call as far as one message of it does.
func asideName(call jsontext.Value) string {
	return cmp.Or(call.Get("rawInput").Get("command").Text(), call.Get("title").Text(), call.Get("kind").Text(), noName)
}

// keepFor has keep keep what the agent says and does from now on, and what nobody has taken so far.
func (p *proc) keepFor(keep func(texts []string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep = keep
	p.keepBetween(0)
}

// keepBetween has what the next turn is to tell kept, if that has changed since between had a size. mu must be held.
func (p *proc) keepBetween(size int) {
	if p.keep == nil || p.between.size() == size {
		return
	}
	if texts := p.between.texts(""); !slices.Equal(texts, p.told) {
		p.told = texts
		p.keep(texts)
	}
}

// keepNoMore leaves all that was said and done to who has kept it.
func (p *proc) keepNoMore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep, p.told, p.between = nil, nil, between{}
}

// overheard returns what the agent has said and done and nobody has kept, once.
func (p *proc) overheard() (b between) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, p.between = p.between, between{}
	return b
}

// goOn adds what the agent has said since it answered the prompt to the turn, whose run has not ended yet.
func (r *run) goOn(p *proc, t *turn) {
	b := p.overheard()
	text := b.words
	b.words = ""
	r.tell(b.texts("While commands run in the background"))
	if text == "" {
		return
	}
	r.emit([]agent.Event{agent.TextEnd{}, agent.Text{Text: text}})
	if t.out.Result != nil {
		text = *t.out.Result + text
	}
	t.out.Result = &text
}

// tellKept tells what the agent has said and done since the last turn. It is forgotten when it is told.
func (r *run) tellKept() {
	if texts := r.d.options.Kept(r.req.Session); len(texts) > 0 {
		r.tell(texts)
		r.d.options.Keep(r.req.Session, nil)
	}
}

// tell tells notices, while the process takes in no turn.
func (r *run) tell(texts []string) {
	if len(texts) > 0 {
		r.emit(notices(texts))
	}
}

// tellBetween tells what the agent has said and done since its process was taken for the turn.
func (t *turn) tellBetween() {
	b := t.p.overheard()
	t.emitBeside(notices(b.texts("")))
}

func notices(texts []string) (all []agent.Event) {
	for _, text := range texts {
		all = append(all, agent.Notice{Text: text})
	}
	return all
}

// texts tells it. during says when it was, if the turn's run had not ended; a look at the files then follows.
func (b *between) texts(during string) (all []string) {
	if text := plaintext.Joined(b.words); text != "" {
		if cut := plaintext.Cut(text, maxTold); cut != text {
			text = cut + "…"
		}
		all = append(all, "While no turn ran, the agent said: "+text)
	}
	if len(b.did.list) > 0 {
		text := cmp.Or(during, "While no turn ran") + ", the agent did more: " + b.did.String()
		if during == "" {
			text += ". What that changed is not listed as the agent's: look at these files yourself"
		}
		all = append(all, text)
	}
	if len(b.asked.list) > 0 {
		all = append(all, cmp.Or(during, "While no turn ran")+", the agent asked for this, and was told no: "+b.asked.String())
	}
	return all
}
