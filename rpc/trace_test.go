package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded returns the recorded messages without times, by connection.
func recorded(t *testing.T, raw []byte) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range bytes.Lines(raw) {
		var l traceLine
		require.NoError(t, json.Unmarshal(line, &l), "%s", line)
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, l.Time)
		key := strings.TrimSpace(fmt.Sprint(l.Connection, " ", l.Direction))
		all[key] = append(all[key], l.Event+l.Text+string(l.Message))
	}
	return all
}

// TestTracer records two connections in both framings, and also broken messages.
func TestTracer(t *testing.T) {
	w := newWorld(t)
	var out bytes.Buffer
	tr := NewTracer(&out)
	for n, framing := range []Framing{FramingLines, FramingHeaders} {
		client, server := socketPair(t)
		p := &peer{t: t, conn: client, framing: framing, reader: NewFrameReader(client, HardCap), served: make(chan struct{})}
		go func() {
			defer close(p.served)
			ServeConn(context.Background(), tr.Conn(server), w.d, w.log)
		}()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"workspace/list"}`)
		_, err := p.reader.Read()
		require.NoError(t, err)
		p.send(`what`)
		_, err = p.reader.Read()
		require.NoError(t, err)
		if n == 1 {
			_, err = client.Write([]byte("Content-Length: no\r\n\r\n"))
			require.NoError(t, err)
			_, err = p.reader.Read()
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
		<-p.served
	}
	require.NoError(t, tr.Wait())
	got := recorded(t, out.Bytes())
	list := `{"jsonrpc":"2.0","id":1,"method":"workspace/list"}`
	require.Equal(t, []string{"opened", "closed"}, got["1"])
	require.Equal(t, []string{list, "what"}, got["1 in"])
	require.Len(t, got["1 out"], 2)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"workspaces":[]}}`, got["1 out"][0])
	require.Equal(t, []string{"opened", "closed"}, got["2"])
	require.Len(t, got["2 in"], 3)
	require.Contains(t, got["2 in"][2], "Content-Length")
	require.Len(t, got["2 out"], 3)
}

// TestTracerThatCannotWrite: a full disk ends the recording and nothing else.
func TestTracerThatCannotWrite(t *testing.T) {
	w := newWorld(t)
	full := errors.New("full")
	tr := NewTracer(writerFunc(func([]byte) (int, error) { return 0, full }))
	client, server := socketPair(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		ServeConn(context.Background(), tr.Conn(server), w.d, w.log)
	}()
	c := NewClient(client, nil)
	for range 3 {
		require.NoError(t, c.Call(context.Background(), "workspace/list", nil, nil))
	}
	require.NoError(t, c.Close())
	<-served
	require.ErrorIs(t, tr.Wait(), full)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestSetTrace sends a client the trace of its connection, at three levels.
func TestSetTrace(t *testing.T) {
	w := newWorld(t)
	p := w.dial(FramingLines)
	read := func() string {
		body, err := p.reader.Read()
		require.NoError(t, err)
		return string(body)
	}
	logged := func() string {
		var m struct {
			Method string
			Params json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(read()), &m))
		require.Equal(t, "$/logTrace", m.Method)
		return string(m.Params)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"trace":"messages"}}`)
	require.Contains(t, logged(), `{"message":"Sending response 'initialize - (1)'. Processing request took`)
	require.Contains(t, read(), `"id":1,"result"`)
	p.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	require.Equal(t, `{"message":"Received notification 'initialized'."}`, logged())
	p.send(`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}`)
	require.Equal(t, `{"message":"Received notification '$/setTrace'."}`, logged())
	p.send(`{"jsonrpc":"2.0","id":"a","method":"session/read","params":{"sessionId":"x"}}`)
	require.Equal(t, `{"message":"Received request 'session/read - (\"a\")'.","verbose":"Params: {\"sessionId\":\"x\"}"}`, logged())
	require.Regexp(t, `took \d+ms. Request failed: no such session x \(-32001\)`, logged())
	require.Contains(t, read(), `"id":"a","error"`)
	p.send(`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"loud"}}`)
	logged()
	p.send(`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}`)
	logged()
	p.send(`{"jsonrpc":"2.0","id":2,"method":"workspace/list"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"workspaces":[]}}`, read())
}
