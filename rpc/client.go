package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	}
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, clientHandler{c}, c.stream.options()...)
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
	return c.Begin(ctx, method, params)(result)
}

// Begin sends a request without waiting, and returns a function that waits for its answer and returns what Call does. Requests that
// one goroutine begins arrive in that order.
func (c *Client) Begin(ctx context.Context, method string, params any) (wait func(result any) error) {
	failed := func(err error) func(any) error { return func(any) error { return err } }
	raw, err := encodeParams(params)
	if err != nil {
		return failed(err)
	}
	id := jsonrpc2.ID{Num: c.lastID.Add(1)}
	call, err := c.conn.DispatchCall(ctx, method, raw, jsonrpc2.PickID(id))
	if err != nil {
		return failed(closedError(err))
	}
	return func(result any) error { return c.wait(ctx, id, method, call, result) }
}

func (c *Client) wait(ctx context.Context, id jsonrpc2.ID, method string, call jsonrpc2.Waiter, result any) error {
	var answer json.RawMessage
	if err := call.Wait(ctx, &answer); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			// The answer comes in any case, and frees the library's entry of the call.
			_ = c.Notify("$/cancelRequest", CancelParams{ID: json.RawMessage(fmt.Sprint(id.Num))})
			return err
		}
		return closedError(err)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("answer to %s: %w", method, err)
	}
	return nil
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
