package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// ErrClosed is returned by a Client's methods once the connection has ended, and by a Call that was running then.
var ErrClosed = errors.New("connection to the daemon is closed")

// A Client is a connection to a daemon; package dial makes one. Any goroutine may call its methods. Each request of the protocol
// has a method, which returns the errors of Call.
type Client struct {
	out      io.WriteCloser
	box      *outbox
	onNotify func(method string, params json.RawMessage)
	done     chan struct{}

	mu      sync.Mutex
	lastID  uint64
	pending map[string]func(json.RawMessage, error) // by id: what to call with the answer to each unanswered request; nil once the connection has ended
}

// NewClient starts a client on rwc, which is closed by Close and when the connection ends. It calls onNotify, which may be
// nil, for each notification, in order, from the goroutine that reads. That goroutine reads nothing else until onNotify
// returns, so no Call returns either. params is nil if there are none, and may be kept.
func NewClient(rwc io.ReadWriteCloser, onNotify func(method string, params json.RawMessage)) *Client {
	return NewFedClient(rwc, func(c *Client) {
		reader := NewFrameReader(rwc, HardCap)
		for {
			m, _, err := reader.Next(c.refuse)
			if err != nil {
				return
			}
			c.handle(&m)
		}
	}, onNotify)
}

// NewFedClient is NewClient for a connection that is written to out, and read by feed: it hands each message to Feed, one after the
// other, and returns at the end of the connection. No message then waits for another goroutine to take it.
func NewFedClient(out io.WriteCloser, feed func(*Client), onNotify func(method string, params json.RawMessage)) *Client {
	out = &closeOnce{WriteCloser: out}
	c := &Client{
		out: out, box: newOutbox(out, FramingHeaders), onNotify: onNotify,
		done: make(chan struct{}), pending: map[string]func(json.RawMessage, error){},
	}
	go func() {
		feed(c)
		_ = c.Close() // the connection has ended
	}()
	return c
}

// Feed takes a message of the daemon, which belongs to the client from now on. The params of deltas are left to who is notified: see
// DecodeDelta.
func (c *Client) Feed(body []byte) {
	if params, ok := bytes.CutPrefix(body, deltaHead); ok && bytes.HasSuffix(params, []byte("}}")) {
		c.handle(&Message{Method: "item/delta", Params: params[:len(params)-1]})
		return
	}
	m, bad := ParseMessage(body)
	if bad != nil {
		c.refuse(m.ID, bad)
		return
	}
	c.handle(&m)
}

// refuse answers what is no message. If it cannot be sent, the connection has ended.
func (c *Client) refuse(id json.RawMessage, e *Error) {
	_ = c.box.send(AppendResponse(nil, id, nil, e))
}

// handle gives an answer to whoever waits for it and a notification to onNotify, and refuses requests, which a daemon does not make.
func (c *Client) handle(m *Message) {
	switch {
	case m.IsResponse():
		then := c.removePending(string(m.ID))
		switch {
		case then == nil: // an answer to nothing, or too late
		case m.Error != nil && string(m.Error) != "null":
			then(nil, answerError(m.Error))
		default:
			then(m.Result, nil)
		}
	case m.ID != nil:
		c.refuse(m.ID, &Error{Code: CodeMethodNotFound, Message: "no such method: " + m.Method})
	case c.onNotify != nil && !c.hasEnded():
		c.onNotify(m.Method, m.Params)
	}
}

func answerError(raw json.RawMessage) *Error {
	e := &Error{}
	if json.Unmarshal(raw, e) != nil {
		return &Error{Code: CodeInternal, Message: "an error that cannot be read: " + string(raw)}
	}
	return e
}

// Call makes a request by its name and stores its result in *result, unless result is nil. A nil params is left out. It
// returns an *Error if the daemon answered with one, or ErrClosed, or ctx's error, in which case it cancels the request.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	type outcome struct {
		answer json.RawMessage
		err    error
	}
	answered := make(chan outcome, 1)
	id, err := c.send(method, params, func(answer json.RawMessage, err error) { answered <- outcome{answer, err} })
	if err != nil {
		return err
	}
	select {
	case got := <-answered:
		if got.err != nil {
			return got.err
		}
		return decodeAnswer(method, got.answer, result)
	case <-ctx.Done():
		_ = c.Notify("$/cancelRequest", CancelParams{ID: json.RawMessage(id)})
		return ctx.Err()
	}
}

// decodeAnswer stores the answer to a request in *result, unless result is nil.
func decodeAnswer(method string, answer json.RawMessage, result any) error {
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("answer to %s: %w", method, err)
	}
	return nil
}

// Send sends a request without waiting; requests that one goroutine sends arrive in that order. If Send returns nil, then is called once, with
// the answer, the *Error, or ErrClosed when the connection has ended. The goroutine that reads calls it, so answers and notifications come in the
// order in which the daemon has sent them, and then must not wait for another answer. Send itself returns ErrClosed, or the error of encoding
// params; then is not called in that case.
func Send[R any](c *Client, method string, params any, then func(R, error)) error {
	_, err := c.send(method, params, func(answer json.RawMessage, err error) {
		var result R
		if err == nil {
			err = decodeAnswer(method, answer, &result)
		}
		then(result, err)
	})
	return err
}

// send is Send without decoding the answer. It returns the request's id.
func (c *Client) send(method string, params any, then func(answer json.RawMessage, err error)) (id string, err error) {
	raw, err := encodeParams(params)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	if c.pending == nil {
		c.mu.Unlock()
		return "", ErrClosed
	}
	c.lastID++
	id = strconv.FormatUint(c.lastID, 10)
	c.pending[id] = then
	c.mu.Unlock()
	// It never waits.
	if c.box.send(AppendRequest(nil, json.RawMessage(id), method, raw)) != nil && c.removePending(id) != nil {
		return "", ErrClosed
	}
	return id, nil
}

// removePending returns what is to be called with the answer to a request, and nil if another caller has it already.
func (c *Client) removePending(id string) (then func(json.RawMessage, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	then = c.pending[id]
	delete(c.pending, id)
	return then
}

// Notify sends a notification. It does not wait for the daemon.
func (c *Client) Notify(method string, params any) error {
	raw, err := encodeParams(params)
	if err != nil {
		return err
	}
	if c.hasEnded() || c.box.send(AppendRequest(nil, nil, method, raw)) != nil {
		return ErrClosed
	}
	return nil
}

// Close ends the connection once everything before is sent. Turns go on.
func (c *Client) Close() error {
	c.mu.Lock()
	left := c.pending
	c.pending = nil
	c.mu.Unlock()
	if left == nil {
		return nil
	}
	close(c.done)
	go func() { // what is called may wait for who closes
		for _, then := range left {
			then(nil, ErrClosed)
		}
	}()
	c.box.finish(c.done)
	return c.out.Close()
}

// Done is closed when the connection has ended, on either side.
func (c *Client) Done() <-chan struct{} { return c.done }

func (c *Client) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// encodeParams returns params as a message has them: nil for none.
func encodeParams(params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	raw, err := encode(params)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	return raw, nil
}
