package acp

import "time"

// end ends the process and all that it has started: its stdin closes, then it gets INT, TERM and KILL. end returns when all of that is
// over. It may be called more than once, and at any time.
func (p *proc) end() {
	p.interrupt()
	<-p.gone
}

// interrupt begins to end the process.
func (p *proc) interrupt() {
	p.ending.Do(func() {
		p.doomed.Store(true)
		p.family.Look()
		p.child.Interrupt()
		go func() {
			for _, step := range []struct {
				after time.Duration
				send  func()
			}{{intTime, p.child.Terminate}, {termTime, p.child.Kill}} {
				select {
				case <-p.gone:
					return
				case <-time.After(step.after):
					step.send()
				}
			}
		}()
	})
}

// kill ends the process at once.
func (p *proc) kill() {
	p.doomed.Store(true)
	p.family.Look()
	p.child.Kill()
}
