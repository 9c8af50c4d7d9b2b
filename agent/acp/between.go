package acp

import (
	"cursord/agent"
	"cursord/agent/plaintext"
)

// This file keeps what the agent says while no turn takes it in, such as that a command in the background has ended. While the run of the
// turn before waits for that command, it is of that turn. Else the next turn tells it as a notice, since a turn that has ended is not changed.

const (
	maxOverheard = 16 << 10 // bytes of such a text that are kept
	maxUntold    = 100      // sessions of which it is kept when their process ends
	maxTold      = 2 << 10  // bytes of the notice
)

// overhear takes in a message that comes while no turn takes messages. Before the process serves its first turn, that is a chat being loaded: old
// text, which is left out.
func (p *proc) overhear(m message) {
	if !p.served || m.method != "session/update" || p.elsewhere(m.params) {
		return
	}
	u := m.params.Get("update")
	if u.Get("sessionUpdate").Text() != "agent_message_chunk" {
		return
	}
	text := u.Get("content").Get("text").Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.between += plaintext.Cut(text, max(maxOverheard-len(p.between), 0))
}

// overheard returns what the agent has said since the last turn, once.
func (p *proc) overheard() (text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, p.between = p.between, ""
	return text
}

// goOn adds what the agent has said since it answered the prompt to the turn, whose run has not ended yet.
func (r *run) goOn(p *proc, t *turn) {
	text := p.overheard()
	if text == "" {
		return
	}
	r.emit([]agent.Event{agent.TextEnd{}, agent.Text{Text: text}})
	if t.out.Result != nil {
		text = *t.out.Result + text
	}
	t.out.Result = &text
}

// untold returns what a session's process that has ended had said since its last turn, once.
func (d *Driver) untold(session string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := d.left[session]
	delete(d.left, session)
	return text
}

// leave keeps what the agent has said since its last turn, as its process is about to end. mu must be held.
func (d *Driver) leave(k *keeping) {
	if text := k.proc.overheard(); text != "" && len(d.left) < maxUntold {
		d.left[k.session] = text
	}
}

// tellBetween tells what the agent has said while no turn ran.
func (t *turn) tellBetween() {
	if text := plaintext.Joined(t.between + t.p.overheard()); text != "" {
		if cut := plaintext.Cut(text, maxTold); cut != text {
			text = cut + "…"
		}
		t.emitBeside([]agent.Event{agent.Notice{Text: "While no turn ran, the agent said: " + text}})
	}
}
