// Package typing tells when a question may come up in an editor: its popup takes the keys of somebody who types, and those that are meant
// for the popup below it.
package typing

import (
	"encoding/json"
	"time"
)

// A Pause knows whether a person does something. It belongs to one goroutine, the one in which After runs functions.
type Pause struct {
	Wait  time.Duration                           // without a sign of the person, until they count as pausing
	After func(time.Duration, func()) *time.Timer // runs a function after a while; the timer may be nil
	Begun func(typed bool)                        // is called when a pause begins: whether the person has changed a text before it

	signs uint64
	busy  bool
	typed bool // since the latest pause
	open  int  // popups that have no answer yet
	due   []func()
	timer *time.Timer
}

// Sign notes that the person has done something.
func (p *Pause) Sign() {
	p.signs++
	p.busy = true
	at := p.signs
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = p.After(p.Wait, func() {
		if at == p.signs { // the timer may have run out just before it was stopped
			p.busy = false
			p.rest()
		}
	})
}

// Typed is Sign for a change of a text.
func (p *Pause) Typed() {
	p.typed = true
	p.Sign()
}

func (p *Pause) rest() {
	for len(p.due) > 0 && !p.Busy() {
		f := p.due[0]
		p.due = p.due[1:]
		f()
	}
	typed := p.typed
	p.typed = false
	p.Begun(typed)
}

// Busy reports whether the person does something, or has a popup before them.
func (p *Pause) Busy() bool { return p.busy || p.open > 0 }

// Open notes that a popup opens, and Close that it has its answer, which is a sign of the person.
func (p *Pause) Open() { p.open++ }

func (p *Pause) Close() {
	p.open--
	p.Sign()
}

// Later calls f once the person is not busy.
func (p *Pause) Later(f func()) {
	if p.Busy() {
		p.due = append(p.due, f)
		return
	}
	f()
}

// signs are the messages of an editor that a person causes. Changes of texts are not among them: an editor also reports those by programs.
var signs = map[string]bool{
	"workspace/executeCommand": true, "workspace/symbol": true, "window/workDoneProgress/cancel": true,
	"textDocument/didOpen": true, "textDocument/didSave": true, "textDocument/didClose": true, "textDocument/hover": true,
	"textDocument/definition": true, "textDocument/completion": true, "textDocument/codeAction": true,
}

// Shows reports whether a message of an editor is a sign of the person.
func Shows(method string, params json.RawMessage) bool {
	const automatic = 2
	var p struct{ Context struct{ TriggerKind int } }
	return signs[method] && (method != "textDocument/codeAction" || json.Unmarshal(params, &p) != nil || p.Context.TriggerKind != automatic)
}
