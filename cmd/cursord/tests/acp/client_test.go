//go:build unix

package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A client is an editor that speaks ACP. It keeps all messages of the agent, and holds them against the published schema.
type client struct {
	t   testing.TB
	w   *world.World
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader

	noisy bool // the test makes the agent write on stderr

	mu      sync.Mutex
	more    chan struct{} // closed and replaced at each message
	told    []rpc.Message // all messages, in order
	methods map[string]string
	answer  func(m rpc.Message) any // to requests of the agent; nil: no answer
	nextID  int
	gone    bool
	reading chan struct{} // what it reads waits until this is closed; nil: it reads
}

// starts starts "cursord acp".
func starts(w *world.World, env ...string) *client {
	w.T.Helper()
	cmd := exec.Command("cursord", "acp")
	cmd.Env, cmd.Dir = w.Env(env...), w.Dir
	return startsAs(w, cmd)
}

func startsAs(w *world.World, cmd *exec.Cmd) *client {
	w.T.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	errors := &strings.Builder{}
	cmd.Stderr = errors
	require.NoError(w.T, cmd.Start())
	c := &client{t: w.T, w: w, cmd: cmd, in: in, out: out, more: make(chan struct{}), methods: map[string]string{}}
	c.answer = func(rpc.Message) any { return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no such method"} }
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read()
	}()
	w.T.Cleanup(func() {
		c.reads()
		in.Close()
		<-read
		_ = cmd.Wait()
		if !c.noisy && errors.Len() > 0 {
			w.T.Errorf("cursord acp wrote on stderr: %s", errors)
		}
		if w.T.Failed() {
			w.T.Logf("it told:\n%s", world.End(c.transcript()))
		}
		w.Cursord("stop", "--force")
	})
	return c
}

// opens starts "cursord acp" as an editor with these capabilities.
func opens(w *world.World, capabilities world.Obj) *client {
	w.T.Helper()
	c := starts(w)
	c.must("initialize", world.Obj{"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": world.Obj{"name": "test", "version": "1"}}, nil)
	return c
}

// session makes a session in the world's folder.
func (c *client) session() string {
	c.t.Helper()
	var made struct{ SessionID string }
	c.must("session/new", world.Obj{"cwd": c.w.Root, "mcpServers": []any{}}, &made)
	return made.SessionID
}

// loads opens a session with its history.
func (c *client) loads(session string) {
	c.t.Helper()
	c.must("session/load", world.Obj{"sessionId": session, "cwd": c.w.Root, "mcpServers": []any{}}, nil)
}

func words(text string) []world.Obj { return []world.Obj{{"type": "text", "text": text}} }

// asks sends a prompt, and returns the request's id.
func (c *client) asks(session, text string) string {
	c.t.Helper()
	return c.sends("session/prompt", world.Obj{"sessionId": session, "prompt": words(text)})
}

// prompts sends a prompt and waits for its end.
func (c *client) prompts(session, text string) string {
	c.t.Helper()
	return c.stops(c.asks(session, text))
}

// stops waits for the end of a prompt, and returns its stop reason.
func (c *client) stops(id string) string {
	c.t.Helper()
	var result struct{ StopReason string }
	require.NoError(c.t, c.answers(id, &result))
	return result.StopReason
}

// line sends a line as it is.
func (c *client) line(text string) {
	_, _ = io.WriteString(c.in, text+"\n") // an error shows where the answer is awaited
}

func (c *client) notifies(method string, params any) {
	raw, err := json.Marshal(params)
	require.NoError(c.t, err)
	c.line(string(rpc.AppendRequest(nil, nil, method, raw)))
}

// sends sends a request, and returns its id.
func (c *client) sends(method string, params any) string {
	c.t.Helper()
	raw, err := json.Marshal(params)
	require.NoError(c.t, err)
	c.mu.Lock()
	c.nextID++
	id := fmt.Sprintf(`"%s %d"`, method, c.nextID)
	c.methods[id] = method
	c.mu.Unlock()
	c.line(string(rpc.AppendRequest(nil, json.RawMessage(id), method, raw)))
	return id
}

// answers waits for the answer to a request.
func (c *client) answers(id string, result any) error {
	c.t.Helper()
	m := c.hears("the answer to "+id, 0, func(m rpc.Message) bool { return m.IsResponse() && string(m.ID) == id })
	if m.Error != nil {
		e := &rpc.Error{}
		require.NoError(c.t, json.Unmarshal(m.Error, e))
		return e
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

func (c *client) calls(method string, params, result any) error {
	c.t.Helper()
	return c.answers(c.sends(method, params), result)
}

func (c *client) must(method string, params, result any) {
	c.t.Helper()
	require.NoError(c.t, c.calls(method, params, result), method)
}

// fails makes a request that is refused.
func (c *client) fails(method string, params any) *rpc.Error {
	c.t.Helper()
	var e *rpc.Error
	require.ErrorAs(c.t, c.calls(method, params, nil), &e)
	return e
}

// hears waits for a message from mark on.
func (c *client) hears(what string, mark int, fits func(rpc.Message) bool) (found rpc.Message) {
	c.t.Helper()
	deadline := time.After(world.Patience)
	for {
		c.mu.Lock()
		for _, m := range c.told[min(mark, len(c.told)):] {
			if fits(m) {
				c.mu.Unlock()
				return m
			}
		}
		more, gone := c.more, c.gone
		mark = len(c.told)
		c.mu.Unlock()
		if gone {
			c.t.Fatalf("the agent ended while waiting for %s", what)
		}
		select {
		case <-more:
		case <-deadline:
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// update waits for an update whose JSON has all these parts.
func (c *client) update(mark int, parts ...string) rpc.Message {
	c.t.Helper()
	return c.hears(fmt.Sprintf("an update with %q", parts), mark, func(m rpc.Message) bool {
		return m.Method == "session/update" && has(m, parts...)
	})
}

func has(m rpc.Message, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(string(m.Params), part) {
			return false
		}
	}
	return true
}

// mark returns the number of messages so far.
func (c *client) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.told)
}

func (c *client) all() []rpc.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told[:len(c.told):len(c.told)]
}

// stopsReading makes the client deaf.
func (c *client) stopsReading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = make(chan struct{})
}

// reads makes it listen again.
func (c *client) reads() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading != nil {
		close(c.reading)
		c.reading = nil
	}
}

func (c *client) read() {
	r := bufio.NewReaderSize(c.out, 64<<10)
	for {
		c.mu.Lock()
		deaf := c.reading
		c.mu.Unlock()
		if deaf != nil {
			<-deaf
		}
		line, err := r.ReadBytes('\n')
		c.mu.Lock()
		if err != nil {
			c.gone = true
			if len(line) > 0 {
				c.t.Errorf("the last line has no end: %q", line)
			}
		} else if m, bad := rpc.ParseMessage(line); bad != nil {
			c.t.Errorf("the agent sent %s: %s", bad.Message, line)
		} else {
			c.take(m)
		}
		close(c.more)
		c.more = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// results are the definitions of the schema for results.
var results = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse", "session/new": "NewSessionResponse", "session/load": "LoadSessionResponse",
	"session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse", "session/close": "CloseSessionResponse",
	"session/delete": "DeleteSessionResponse", "session/prompt": "PromptResponse", "session/set_mode": "SetSessionModeResponse",
	"session/set_config_option": "SetSessionConfigOptionResponse",
}

// params are those for what the agent sends.
var params = map[string]string{
	"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest", "$/cancel_request": "CancelRequestNotification",
	"elicitation/create": "CreateElicitationRequest", "fs/read_text_file": "ReadTextFileRequest", "fs/write_text_file": "WriteTextFileRequest",
}

// take is called with c.mu held.
func (c *client) take(m rpc.Message) {
	c.told = append(c.told, m)
	if m.IsResponse() {
		switch definition := results[c.methods[string(m.ID)]]; {
		case m.Error != nil:
			world.CheckACP(c.t, "Error", m.Error)
		case definition != "":
			world.CheckACP(c.t, definition, m.Result)
		}
		return
	}
	if definition := params[m.Method]; definition == "" {
		c.t.Errorf("the agent sent %s", m.Method)
	} else {
		world.CheckACP(c.t, definition, m.Params)
	}
	if m.ID == nil {
		return
	}
	switch result := c.answer(m).(type) {
	case nil:
	case *rpc.Error:
		c.line(string(rpc.AppendResponse(nil, m.ID, nil, result)))
	default:
		raw, err := json.Marshal(result)
		if err != nil {
			c.t.Error(err)
		}
		c.line(string(rpc.AppendResponse(nil, m.ID, raw, nil)))
	}
}

// answering sets the function that answers the agent's requests.
func (c *client) answering(f func(m rpc.Message) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = f
}

func selects(option string) any {
	return world.Obj{"outcome": world.Obj{"outcome": "selected", "optionId": option}}
}

func (c *client) transcript() string {
	var b strings.Builder
	for _, m := range c.all() {
		fmt.Fprintf(&b, "%s %s %.600s%.600s%s\n", m.ID, m.Method, m.Params, m.Result, m.Error)
	}
	return b.String()
}
