package rpc

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"cursord/agent/jsontext"
	"cursord/daemon/api"
)

// A call is a request until it is answered.
type call struct {
	d      *dispatcher
	conn   *jsonrpc2.Conn
	id     jsonrpc2.ID
	name   string
	method method
	params json.RawMessage
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	done   func() // of a call in a lane: called once it has run

	// Owned by d.mu.
	waits    bool // for an event, and is counted in d.waits
	answered bool
	givenUp  bool // answered before its method replied; that reply is dropped
}

// A callKey is a request's id: a decoded string, or a number as it was written.
type callKey struct {
	text   string
	number bool
}

func keyOf(id json.RawMessage) callKey {
	if len(id) > 0 && id[0] == '"' {
		return callKey{text: jsontext.Unquote(id)}
	}
	return callKey{text: string(id), number: true}
}

// key returns the call's key; stream keeps the raw id in ID.Str.
func (c *call) key() callKey { return keyOf(json.RawMessage(c.id.Str)) }

// runInSlot runs the call once fewer than maxRunning others run.
func (c *call) runInSlot() {
	select {
	case c.d.slots <- struct{}{}:
		defer func() { <-c.d.slots }()
		c.run()
	case <-c.ctx.Done():
	}
}

// run serves the call, unless it was given up. A panic ends only this call.
func (c *call) run() {
	if c.ctx.Err() != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.d.log.Error("panic in a request", "method", c.name, "panic", p, "stack", string(debug.Stack()))
			c.answer(c.response(nil, &Error{
				Code: CodeInternal, Message: "internal error in " + c.name,
				Data: ErrorData{Kind: api.KindInternal, Hint: "the daemon's log has the details"},
			}), true)
		}
	}()
	c.method.serve(c.ctx, c.params, c.reply)
	if !c.method.order.mayReplyLate() && !c.isAnswered() {
		panic("the method has not replied")
	}
}

func (c *call) isAnswered() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.answered
}

// reply answers the call with what its method returned.
func (c *call) reply(result any, err error) {
	if !c.answer(c.response(result, err), false) {
		c.d.log.Error("a second reply to a request", "method", c.name)
	}
}

// giveUp answers the call as cancelled and ends its context.
func (c *call) giveUp(why string) {
	c.answer(c.response(nil, cancelled(why)), true)
}

func cancelled(why string) *api.Error {
	return &api.Error{Kind: api.KindCancelled, Message: why}
}

// answer sends the response if the call has none yet. giveUp says that the response does not come from the call's method. answer returns
// false for a second reply of the method.
func (c *call) answer(response *jsonrpc2.Response, giveUp bool) bool {
	d := c.d
	d.mu.Lock()
	if c.answered {
		ok := c.givenUp || giveUp
		d.mu.Unlock()
		return ok
	}
	c.answered, c.givenUp = true, giveUp
	if key := c.key(); d.byID[key] == c {
		delete(d.byID, key)
	}
	d.mu.Unlock()
	d.trace.response(c, response)

	// It never waits (stream.WriteObject); an error means that the connection has ended.
	_ = c.conn.SendResponse(context.Background(), response)
	c.cancel()

	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.calls, c)
	if c.waits {
		d.waits--
	}
	d.wakeDrainLocked()
	return true
}

func (c *call) response(result any, err error) *jsonrpc2.Response {
	response := &jsonrpc2.Response{ID: c.id}
	if err == nil {
		raw, isEncoded := result.(json.RawMessage)
		if !isEncoded || raw == nil {
			raw, err = encode(result)
		}
		if err == nil {
			response.Result = &raw
			return response
		}
		c.d.log.Error("a result cannot be encoded", "method", c.name, "err", err)
	}
	e := wireError(err)
	response.Error = &jsonrpc2.Error{Code: int64(e.Code), Message: e.Message}
	if e.Data.isZero() {
		return response
	}
	data, err := encode(e.Data)
	if err != nil { // ErrorData can always be encoded
		panic(err)
	}
	response.Error.Data = (*json.RawMessage)(&data)
	return response
}
