package agent

import (
	"context"
	"errors"
	"sync"
)

// A Driver runs the agent. Each way in which the agent can be run has one: a Launcher runs it in print mode, acp.Driver in its ACP mode.
type Driver interface {
	// Run runs a turn. It returns when the turn has ended and nothing that it started can write any more, except what an event
	// or a Notice has named. It calls emit as Launcher.Run does.
	Run(ctx context.Context, req Request, emit func([]Event)) Outcome
}

// Why a Control could not do what it was asked for.
var (
	ErrNotRunning      = errors.New("the agent is not running")
	ErrUnknownApproval = errors.New("the agent does not wait for this answer") // it never did, or has an answer, or has withdrawn
	ErrCannotSteer     = errors.New("the agent takes nothing more for this turn")
)

// A Control reaches a run while it lasts. Its methods may be called from any goroutine and do not wait for the agent. Its zero value is
// one of a run that has not begun.
type Control struct {
	mu  sync.Mutex
	run *Reach // guarded by mu; nil: not running
}

// NewControl returns a Control for one Request.
func NewControl() *Control { return new(Control) }

// A Reach is what a driver can do for a run. Its functions must not wait for the agent, nor call the Control.
type Reach struct {
	Answer func(id string, a ApprovalAnswer) error // nil: the driver never asks
	Steer  func(text string) error                 // nil: it cannot
}

// Begin makes c reach a run until end is called. It is for drivers. A nil Control takes it too.
func (c *Control) Begin(r Reach) (end func()) {
	if c == nil {
		return func() {}
	}
	c.set(&r)
	return func() { c.set(nil) }
}

func (c *Control) set(r *Reach) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = r
}

// Answer gives the agent the answer to the request with this id. It fails with ErrNotRunning or ErrUnknownApproval. An option that the
// request does not have, and what else is not understood, reaches the agent as a no.
func (c *Control) Answer(id string, a ApprovalAnswer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.run == nil:
		return ErrNotRunning
	case c.run.Answer == nil:
		return ErrUnknownApproval
	}
	return c.run.Answer(id, a)
}

// Steer adds text to the running turn, as if it had been in the prompt. It fails with ErrNotRunning or ErrCannotSteer.
func (c *Control) Steer(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.run == nil:
		return ErrNotRunning
	case c.run.Steer == nil:
		return ErrCannotSteer
	}
	return c.run.Steer(text)
}
