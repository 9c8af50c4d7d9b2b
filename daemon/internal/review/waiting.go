package review

import (
	"context"
	"slices"
	"sync"

	"cursord/daemon/api"
)

// maxWaiting bounds the requests of a workspace that wait for agents.
const maxWaiting = 1000

// A waitingRequest is a request to the reviewer until it is answered. One that would write a file that an agent is about to
// write waits until the agent's tool has ended: two writers at once lose lines.
type waitingRequest struct {
	try   func(*waitingRequest) bool // carries the request out, or returns false if it must wait
	reply func(api.Decided, error)
	stop  func() bool // its watch on the request's context
}

// answer replies to the request, and returns true.
func (p *waitingRequest) answer(v api.Decided, err error) bool {
	p.stop()
	p.reply(v, err)
	return true
}

// request has the reviewer try, now and whenever an agent's tool has ended, until the request is carried out or ctx
// ends. It returns when the reviewer has taken it.
func (r *Reviewer) request(ctx context.Context, reply func(api.Decided, error), try func(*waitingRequest) bool) {
	var once sync.Once
	p := &waitingRequest{try: try, stop: func() bool { return true }}
	p.reply = func(v api.Decided, err error) { once.Do(func() { reply(v, err) }) }
	err := r.call(func() {
		if ctx.Err() != nil {
			p.answer(api.Decided{}, errCancelled)
			return
		}
		if r.attempt(p) {
			return
		}
		if len(r.waiting) >= maxWaiting {
			p.answer(api.Decided{}, api.Errorf(api.KindBusy, "too many decisions wait for agents"))
			return
		}
		r.waiting = append(r.waiting, p)
		p.stop = context.AfterFunc(ctx, func() { r.later.Put(func() { r.finishWaiting(p, errCancelled) }) })
	})
	if err != nil {
		p.reply(api.Decided{}, err)
	}
}

var errCancelled = &api.Error{Kind: api.KindCancelled, Message: "cancelled"}

// attempt tries, and answers a request that panics.
func (r *Reviewer) attempt(p *waitingRequest) (done bool) {
	defer func() {
		if v := recover(); v != nil {
			p.answer(api.Decided{}, api.Errorf(api.KindInternal, "internal error in a decision"))
			panic(v)
		}
	}()
	return p.try(p)
}

// finishWaiting answers a request that still waits.
func (r *Reviewer) finishWaiting(p *waitingRequest, err error) {
	if i := slices.Index(r.waiting, p); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
		p.answer(api.Decided{}, err)
	}
}

// retry tries the requests that wait, in order.
func (r *Reviewer) retry() {
	waiting := r.waiting
	r.waiting = nil
	for i, p := range waiting {
		if !r.attempt(p) {
			r.waiting = append(r.waiting, waiting[i])
		}
	}
}

// agentWrites reports whether a decision of client about the file would write what an agent is about to write, or what
// nobody may write now.
func (r *Reviewer) agentWrites(f *file, client api.ClientID, accept bool) bool {
	switch {
	case f.tree.busy:
		return true
	case f.writesReal(accept):
		return f.buffers[client] == nil && (r.shared().ledger.Writing(f.realPath()) || r.lags(f))
	}
	return f.tree.isolated() && f.tree.ledger.Writing(f.path)
}
