package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// ErrClosed is returned by a Client's methods once the connection has ended, and by a Call that was running then.
var ErrClosed = errors.New("connection to the daemon is closed")

// A Client is a connection to a daemon; package dial makes one. Any goroutine may call its methods. There is one for each
// request of the protocol, which returns the errors of Call.
type Client struct {
	stream   *stream
	conn     *jsonrpc2.Conn
	lastID   atomic.Uint64
	onNotify func(method string, params json.RawMessage)

	mu      sync.Mutex
	answers map[jsonrpc2.ID]func(json.RawMessage, error) // of requests without an answer; nil once the connection has ended
}

// NewClient starts a client on rwc, which is closed by Close and when the connection ends. It calls onNotify, which may be
// nil, for each notification, in order, from the goroutine that reads. That goroutine reads nothing else until onNotify
// returns, so no Call returns either. params is nil if there are none, and may be kept.
func NewClient(rwc io.ReadWriteCloser, onNotify func(method string, params json.RawMessage)) *Client {
	closed := make(chan struct{})
	close(closed)
	c := &Client{
		stream:   newStream(rwc, HardCap, FramingHeaders, closed),
		onNotify: onNotify,
		answers:  map[jsonrpc2.ID]func(json.RawMessage, error){},
	}
	opts := append(c.stream.options(), jsonrpc2.OnRecv(c.received)) // after the stream's own
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, clientHandler{c}, opts...)
	go func() {
		<-c.Done()
		c.mu.Lock()
		left := c.answers
		c.answers = nil
		c.mu.Unlock()
		for _, then := range left {
			then(nil, ErrClosed)
		}
	}()
	return c
}

// clientHandler keeps Handle out of Client's methods.
type clientHandler struct{ c *Client }

func (h clientHandler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if !req.Notif {
		// It never waits (stream.WriteObject); an error means that the connection has ended.
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{
			Code: CodeMethodNotFound, Message: "no such method: " + req.Method,
		})
		return
	}
	if h.c.onNotify != nil {
		var params json.RawMessage
		if req.Params != nil {
			params = *req.Params
		}
		h.c.onNotify(req.Method, params)
	}
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
		_ = c.Notify("$/cancelRequest", CancelParams{ID: json.RawMessage(fmt.Sprint(id))})
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

// Send sends a request without waiting; requests that one goroutine sends arrive in that order. If Send returns nil, then is called once:
// with the answer or the *Error, by the goroutine that reads, so in the order in which the daemon has sent answers and notifications; or
// with ErrClosed when the connection has ended. It must not wait for another answer. Otherwise Send returns ErrClosed, or an error that
// names the params.
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

// send is Send for an answer as it comes. It returns the request's id.
func (c *Client) send(method string, params any, then func(answer json.RawMessage, err error)) (id uint64, err error) {
	raw, err := encodeParams(params)
	if err != nil {
		return 0, err
	}
	id = c.lastID.Add(1)
	key := jsonrpc2.ID{Num: id}
	c.mu.Lock()
	if c.answers == nil {
		c.mu.Unlock()
		return 0, ErrClosed
	}
	c.answers[key] = then
	c.mu.Unlock()
	if _, err = c.conn.DispatchCall(context.Background(), method, raw, jsonrpc2.PickID(key)); err != nil && c.take(key) != nil {
		return 0, closedError(err)
	}
	return id, nil
}

// take returns what waits for the answer to a request, and nil if it has been called.
func (c *Client) take(id jsonrpc2.ID) (then func(json.RawMessage, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	then = c.answers[id]
	delete(c.answers, id)
	return then
}

// The library calls received between two messages, when the stream has filled in the later one.
func (c *Client) received(_ *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp == nil {
		return
	}
	then := c.take(resp.ID)
	switch {
	case then == nil: // an answer to nothing
	case resp.Error != nil:
		then(nil, closedError(resp.Error))
	case resp.Result == nil:
		then(nil, nil)
	default:
		then(*resp.Result, nil)
	}
}

// Notify sends a notification. It does not wait for the daemon.
func (c *Client) Notify(method string, params any) error {
	raw, err := encodeParams(params)
	if err != nil {
		return err
	}
	return closedError(c.conn.Notify(context.Background(), method, raw))
}

// Close ends the connection once everything before is sent. Turns go on.
func (c *Client) Close() error {
	if err := closedError(c.conn.Close()); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Done is closed when the connection has ended, on either side.
func (c *Client) Done() <-chan struct{} { return c.conn.DisconnectNotify() }

// encodeParams returns params in the form that the library takes: an untyped nil for none.
func encodeParams(params any) (any, error) {
	if params == nil {
		return nil, nil
	}
	raw, err := encode(params)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	return raw, nil
}

// closedError translates the library's errors.
func closedError(err error) error {
	var answer *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		e := &Error{Code: int(answer.Code), Message: answer.Message}
		if answer.Data != nil {
			// libraryError put the whole error there
			_ = json.Unmarshal(*answer.Data, e)
		}
		return e
	case errors.Is(err, jsonrpc2.ErrClosed), errors.Is(err, errOutboxClosed):
		return ErrClosed
	default:
		return err
	}
}
