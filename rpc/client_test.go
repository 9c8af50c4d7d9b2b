package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// serveClient serves a table on a pipe and returns a client of it.
func serveClient(t *testing.T, newTable func(*outbox) table, onNotify func(string, json.RawMessage)) *Client {
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveTable(context.Background(), theirs, newTable, slog.New(slog.DiscardHandler))
	}()
	c := NewClient(ours, onNotify)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		<-served
	})
	return c
}

func TestClientCall(t *testing.T) {
	c := serveClient(t, fixed(map[string]method{
		"echo": echo(inOrder),
		"fail": {serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
			reply(nil, &api.Error{
				Kind: api.KindConflict, Message: "stale", Hint: "look again", Diff: &sessions.Diff{Path: "a.go", Rev: 7},
			})
		}},
	}), nil)
	ctx := context.Background()
	var got TrustParams
	require.NoError(t, c.Call(ctx, "echo", TrustParams{Workspace: "<ä>", Trusted: true}, &got))
	require.Equal(t, TrustParams{Workspace: "<ä>", Trusted: true}, got)
	require.NoError(t, c.Call(ctx, "echo", nil, nil))
	var raw json.RawMessage
	require.NoError(t, c.Call(ctx, "echo", json.RawMessage(`{"b":1,"a":1e400}`), &raw))
	require.JSONEq(t, `{"b":1,"a":2}`, string(raw[:11])+`2}`)

	err := c.Call(ctx, "fail", None{}, nil)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, -32003, e.Code)
	require.Equal(t, "stale", e.Error())
	require.Equal(t, api.KindConflict, e.Data.Kind)
	require.Equal(t, "look again", e.Data.Hint)
	require.Equal(t, uint64(7), e.Data.Diff.Rev)

	require.ErrorAs(t, c.Call(ctx, "nope", nil, nil), &e)
	require.Equal(t, CodeMethodNotFound, e.Code)
	require.ErrorContains(t, c.Call(ctx, "echo", make(chan int), nil), "params")
	var number int
	require.ErrorContains(t, c.Call(ctx, "echo", None{}, &number), "answer to echo")
}

func TestClientCancel(t *testing.T) {
	h := newHeld()
	cancelled := make(chan struct{})
	inner := h.method(concurrent)
	c := serveClient(t, fixed(map[string]method{"held": {
		order: concurrent,
		serve: func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
			inner.serve(ctx, params, func(result any, err error) {
				if err != nil {
					close(cancelled)
				}
				reply(result, err)
			})
		},
	}}), nil)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() { failed <- c.Call(ctx, "held", nil, nil) }()
	<-h.begun
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	<-cancelled
}

func TestClientNotifications(t *testing.T) {
	var got []string // owned by the client's reader
	c := serveClient(t, func(box *outbox) table {
		return table{methods: map[string]method{"start": {
			serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
				for i := range 100 {
					box.notify(changed(sessions.KindTurn, "t", uint64(i), 1), nil)
				}
				reply(nil, nil)
			},
		}}}
	}, func(method string, params json.RawMessage) {
		var p TurnChanged
		if json.Unmarshal(params, &p) == nil {
			got = append(got, fmt.Sprint(method, p.Seq))
		}
	})
	require.NoError(t, c.Call(context.Background(), "start", nil, nil))
	require.Len(t, got, 100)
	for i, one := range got {
		require.Equal(t, fmt.Sprint("turn/changed", i), one)
	}
}

// TestAnswersAreHandedOverInWireOrder: what a client does with an answer, it does before what it does with the notifications that follow.
func TestAnswersAreHandedOverInWireOrder(t *testing.T) {
	const rounds = 200
	var got, want []string // got is owned by the client's reader until all have come
	all := make(chan struct{})
	note := func(what string, seq uint64) {
		if got = append(got, fmt.Sprint(what, seq)); len(got) == 3*rounds {
			close(all)
		}
	}
	c := serveClient(t, func(box *outbox) table {
		seq := uint64(0)
		return table{methods: map[string]method{"step": {
			serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
				box.notify(changed(sessions.KindTurn, "t", seq, 1), nil)
				reply(seq, nil)
				box.notify(changed(sessions.KindTurn, "t", seq+1, 1), nil)
				seq += 2
			},
		}}}
	}, func(_ string, params json.RawMessage) {
		var p TurnChanged
		if json.Unmarshal(params, &p) == nil {
			note("notified ", p.Seq)
		}
	})
	for i := range rounds {
		require.NoError(t, Send(c, "step", nil, func(seq uint64, _ error) { note("answered ", seq) }))
		want = append(want, fmt.Sprint("notified ", 2*i), fmt.Sprint("answered ", 2*i), fmt.Sprint("notified ", 2*i+1))
	}
	<-all
	require.Equal(t, want, got)
}

// TestSendAfterTheEnd: each request that was sent has its answer or ErrClosed, once.
func TestSendAfterTheEnd(t *testing.T) {
	h := newHeld()
	c := serveClient(t, fixed(map[string]method{"held": h.method(deferred)}), nil)
	failed := make(chan error, 2)
	require.NoError(t, Send(c, "held", nil, func(_ any, err error) { failed <- err }))
	<-h.begun
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-failed, ErrClosed)
	require.ErrorIs(t, Send(c, "held", nil, func(_ any, err error) { failed <- err }), ErrClosed)
	require.ErrorContains(t, Send(c, "held", make(chan int), func(_ any, err error) { failed <- err }), "params")
	require.Empty(t, failed)
}

func TestClientClosed(t *testing.T) {
	h := newHeld()
	c := serveClient(t, fixed(map[string]method{"held": h.method(deferred)}), nil)
	failed := make(chan error)
	go func() { failed <- c.Call(context.Background(), "held", nil, nil) }()
	<-h.begun
	require.NoError(t, c.Notify("exit", nil))
	<-c.Done()
	// The server cancels the call and then ends the connection; the client may see either first.
	err := <-failed
	var e *Error
	require.True(t, err == ErrClosed || errors.As(err, &e) && e.Code == CodeCancelled, "%v", err)
	require.ErrorIs(t, c.Call(context.Background(), "held", nil, nil), ErrClosed)
	require.ErrorIs(t, c.Notify("exit", nil), ErrClosed)
	require.NoError(t, c.Close())
}
