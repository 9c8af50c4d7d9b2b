// Package waiting keeps requests that cannot be served yet.
package waiting

import (
	"context"
	"slices"
	"sync"

	"cursord/daemon/api"
)

// Max bounds the number of waiting requests.
const Max = 1000

// A Request is a request that has not been answered yet.
type Request struct {
	try   func(*Request) bool // serves the request; returns false if the request must wait
	reply func(api.Decided, error)
	stop  func() bool // its watch on the request's context
}

// NewRequest returns a request that no Queue keeps.
func NewRequest(reply func(api.Decided, error)) *Request {
	return &Request{reply: reply, stop: func() bool { return true }}
}

// Answer replies to the request, and returns true.
func (p *Request) Answer(v api.Decided, err error) bool {
	p.stop()
	p.reply(v, err)
	return true
}

var errCancelled = &api.Error{Kind: api.KindCancelled, Message: "cancelled"}

// A Queue keeps the waiting requests of one goroutine.
type Queue struct {
	Call func(func()) error // runs a function in the goroutine, and waits for its end
	Post func(func())       // does the same without waiting

	waiting []*Request
}

// Take calls try for a request, now and at each Retry, until the request is served or ctx ends. It returns after the first
// call.
func (q *Queue) Take(ctx context.Context, reply func(api.Decided, error), try func(*Request) bool) {
	var once sync.Once
	p := NewRequest(func(v api.Decided, err error) { once.Do(func() { reply(v, err) }) })
	p.try = try
	err := q.Call(func() {
		if ctx.Err() != nil {
			p.Answer(api.Decided{}, errCancelled)
			return
		}
		if attempt(p) {
			return
		}
		if len(q.waiting) >= Max {
			p.Answer(api.Decided{}, api.Errorf(api.KindBusy, "too many decisions are waiting for agents: try again later"))
			return
		}
		q.waiting = append(q.waiting, p)
		p.stop = context.AfterFunc(ctx, func() { q.Post(func() { q.finish(p, errCancelled) }) })
	})
	if err != nil {
		p.reply(api.Decided{}, err)
	}
}

// attempt calls try, and answers a request whose try panics.
func attempt(p *Request) (done bool) {
	defer func() {
		if v := recover(); v != nil {
			p.Answer(api.Decided{}, api.Errorf(api.KindInternal, "internal error in a decision"))
			panic(v)
		}
	}()
	return p.try(p)
}

// finish answers a request that still waits.
func (q *Queue) finish(p *Request, err error) {
	if i := slices.Index(q.waiting, p); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		p.Answer(api.Decided{}, err)
	}
}

// Retry tries the waiting requests again, in order.
func (q *Queue) Retry() {
	waiting := q.waiting
	q.waiting = nil
	for i, p := range waiting {
		if !attempt(p) {
			q.waiting = append(q.waiting, waiting[i])
		}
	}
}

// Close answers all waiting requests with an error.
func (q *Queue) Close(err error) {
	for _, p := range q.waiting {
		p.Answer(api.Decided{}, err)
	}
}

// Len returns the number of waiting requests.
func (q *Queue) Len() int { return len(q.waiting) }
