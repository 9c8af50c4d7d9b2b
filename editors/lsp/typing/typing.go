// Package typing tells when somebody who types pauses, so that no question comes below their keys.
package typing

import "time"

// A Pause knows whether a person types. It belongs to one goroutine, the one in which After runs functions.
type Pause struct {
	Wait  time.Duration                           // without a change, until the person counts as pausing
	After func(time.Duration, func()) *time.Timer // runs a function after a while; the timer may be nil
	Begun func()                                  // is called when a pause begins

	changes uint64
	busy    bool
	timer   *time.Timer
}

// Typed notes a change that the person has made.
func (p *Pause) Typed() {
	p.changes++
	p.busy = true
	at := p.changes
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = p.After(p.Wait, func() {
		if at == p.changes { // the timer may have run out just before it was stopped
			p.busy = false
			p.Begun()
		}
	})
}

// Busy reports whether the person types.
func (p *Pause) Busy() bool { return p.busy }
