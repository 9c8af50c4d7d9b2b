//go:build unix

package lsp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// A langClient is a small editor that speaks LSP: it keeps documents, makes edits as the protocol says, and keeps all
// messages of the server.
type langClient struct {
	t   testing.TB
	w   *world.World
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	more    chan struct{}               // closed and replaced at each message
	answers map[string]rpc.Message      // by id
	told    []rpc.Message               // notifications and requests of the server, in order
	lists   map[string][]langDiagnostic // the latest, by URI
	docs    map[string]*langDoc         // that are open, by URI
	answer  func(m rpc.Message) any     // to requests
	nextID  int
	gone    bool
	units   string // of positions
}

type langDiagnostic struct {
	Range    api.Range
	Severity int
	Source   string
	Code     string
	Message  string
}

// lsp starts "cursord lsp" for the world's folder, with the capabilities of a modern editor and those given.
func lsp(w *world.World, capabilities world.Obj, options world.Obj) *langClient {
	w.T.Helper()
	c := lspProcess(w)
	c.initialize(capabilities, options)
	return c
}

// lspProcess starts "cursord lsp".
func lspProcess(w *world.World) *langClient {
	w.T.Helper()
	cmd := exec.Command("cursord", "lsp")
	cmd.Env, cmd.Dir = w.Env(), w.Root
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, outEnd, err := os.Pipe()
	require.NoError(w.T, err)
	errors := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = outEnd, errors
	require.NoError(w.T, cmd.Start())
	require.NoError(w.T, outEnd.Close())
	c := &langClient{
		t: w.T, w: w, cmd: cmd, in: in, more: make(chan struct{}), answers: map[string]rpc.Message{},
		lists: map[string][]langDiagnostic{}, docs: map[string]*langDoc{}, units: "utf-16",
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(out)
	}()
	w.T.Cleanup(func() {
		in.Close()
		w.Cursord("stop", "--force")
		<-read
		_ = cmd.Wait()
		if w.T.Failed() {
			w.T.Logf("cursord lsp on stderr: %s\nit told:\n%s", errors, c.transcript())
		}
	})
	return c
}

func (c *langClient) initialize(capabilities, options world.Obj) (result world.Obj) {
	c.t.Helper()
	c.must("initialize", world.Obj{
		"processId": os.Getpid(), "clientInfo": world.Obj{"name": "test"}, "rootUri": "file://" + c.w.Root,
		"workspaceFolders": []world.Obj{{"uri": "file://" + c.w.Root, "name": "ws"}}, "capabilities": capabilities,
		"initializationOptions": options,
	}, &result)
	c.units, _ = result["capabilities"].(world.Obj)["positionEncoding"].(string)
	c.notify("initialized", world.Obj{})
	return result
}

func (c *langClient) send(body []byte) {
	_, _ = c.in.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, body)) // an error shows where the answer is awaited
}

func (c *langClient) notify(method string, params any) {
	raw, err := json.Marshal(params)
	require.NoError(c.t, err)
	c.send(rpc.AppendRequest(nil, nil, method, raw))
}

// call makes a request and waits for its answer.
func (c *langClient) call(method string, params, result any) error {
	c.t.Helper()
	c.mu.Lock()
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.mu.Unlock()
	raw, err := json.Marshal(params)
	require.NoError(c.t, err)
	c.send(rpc.AppendRequest(nil, json.RawMessage(id), method, raw))
	var m rpc.Message
	c.until("an answer to "+method, func() bool {
		var ok bool
		m, ok = c.answers[id]
		return ok
	})
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

func (c *langClient) must(method string, params, result any) {
	c.t.Helper()
	require.NoError(c.t, c.call(method, params, result), method)
}

// does runs a command.
func (c *langClient) does(command string, arguments ...any) {
	c.t.Helper()
	c.must("workspace/executeCommand", world.Obj{"command": command, "arguments": arguments}, nil)
}

// until waits until fits, which is called with c.mu held.
func (c *langClient) until(what string, fits func() bool) {
	c.t.Helper()
	deadline := time.After(world.Patience)
	for {
		c.mu.Lock()
		ok, more, gone := fits(), c.more, c.gone
		c.mu.Unlock()
		if ok {
			return
		}
		if gone {
			c.t.Fatalf("the server ended while waiting for %s", what)
		}
		select {
		case <-more:
		case <-deadline:
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// unanswered is what the function of answering returns for a request that the test answers later, by replies.
const unanswered = "unanswered"

func (c *langClient) replies(m rpc.Message, result any) {
	raw, err := json.Marshal(result)
	require.NoError(c.t, err)
	c.send(rpc.AppendResponse(nil, m.ID, raw, nil))
}

// answering sets the function that answers the server's requests. Where it returns nil, the client answers as editors do.
func (c *langClient) answering(f func(m rpc.Message) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = f
}

// all returns the messages so far.
func (c *langClient) all() []rpc.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told[:len(c.told):len(c.told)]
}

// hears waits for a notification or request of the server whose params, as JSON, contain all words.
func (c *langClient) hears(method string, words ...string) rpc.Message {
	c.t.Helper()
	return c.hearsAfter(0, method, words...)
}

// mark returns the number of messages so far.
func (c *langClient) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.told)
}

func (c *langClient) hearsAfter(mark int, method string, words ...string) (found rpc.Message) {
	c.t.Helper()
	c.until(fmt.Sprintf("%s with %q", method, words), func() bool {
		for _, m := range c.told[mark:] {
			ok := m.Method == method
			for _, word := range words {
				ok = ok && strings.Contains(string(m.Params), word)
			}
			if ok {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (c *langClient) read(out io.Reader) {
	r := rpc.NewFrameReader(out, rpc.HardCap)
	for {
		body, err := r.Read()
		c.mu.Lock()
		if err != nil {
			c.gone = true
		} else if m, bad := rpc.ParseMessage(body); bad != nil {
			c.t.Errorf("the server sent %s: %s", bad.Message, body)
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

// take is called with c.mu held.
func (c *langClient) take(m rpc.Message) {
	if m.IsResponse() {
		if _, twice := c.answers[string(m.ID)]; twice && string(m.ID) != "null" {
			c.t.Errorf("two answers to %s", m.ID)
		}
		c.answers[string(m.ID)] = m
		return
	}
	c.told = append(c.told, m)
	if m.Method == "textDocument/publishDiagnostics" {
		var p struct {
			URI         string
			Version     *int
			Diagnostics []langDiagnostic
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Error(err)
		}
		// Like Helix, it drops a list that is not about its text.
		if d := c.docs[p.URI]; d == nil || p.Version == nil || *p.Version == d.version {
			c.lists[p.URI] = p.Diagnostics
		}
	}
	if m.ID == nil {
		return
	}
	var result any
	if c.answer != nil {
		result = c.answer(m)
	}
	if result == nil {
		switch m.Method {
		case "workspace/applyEdit":
			var p struct{ Edit langEdit }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				c.t.Error(err)
			}
			result = world.Obj{"applied": c.apply(p.Edit)}
		case "window/showDocument":
			result = world.Obj{"success": true}
		}
	}
	if result == unanswered {
		return
	}
	if e, ok := result.(*rpc.Error); ok {
		c.send(rpc.AppendResponse(nil, m.ID, nil, e))
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		c.t.Error(err)
	}
	c.send(rpc.AppendResponse(nil, m.ID, raw, nil))
}

func (c *langClient) transcript() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, m := range c.told {
		fmt.Fprintf(&b, "%s %s %.600s\n", m.ID, m.Method, m.Params)
	}
	return b.String()
}

// waitsForHunks waits until a file of the workspace has so many hunks in its diagnostics.
func (c *langClient) waitsForHunks(path string, n int) (list []langDiagnostic) {
	c.t.Helper()
	c.until(fmt.Sprintf("%d hunks in %s", n, path), func() bool {
		list = c.lists["file://"+c.w.Path(path)]
		return len(list) == n
	})
	return list
}

type langAction struct {
	Title       string
	Kind        string
	IsPreferred bool
	Disabled    *struct{ Reason string }
	Command     *langCommand
}

type langCommand struct {
	Title     string
	Command   string
	Arguments []any
}

// actions returns the code actions of a line.
func (c *langClient) actions(uri string, line int, more world.Obj) (list []langAction) {
	c.t.Helper()
	context := world.Obj{"diagnostics": []world.Obj{}}
	for k, v := range more {
		context[k] = v
	}
	at := world.Obj{"line": line, "character": 0}
	c.must("textDocument/codeAction", world.Obj{"textDocument": world.Obj{"uri": uri}, "range": world.Obj{"start": at, "end": at}, "context": context}, &list)
	return list
}

// chooses runs the first action of a line whose title begins with a text.
func (c *langClient) chooses(uri string, line int, title string) {
	c.t.Helper()
	c.choosesWith(uri, line, title, nil)
}

// choosesWith is chooses with more in the request's context.
func (c *langClient) choosesWith(uri string, line int, title string, context world.Obj) {
	c.t.Helper()
	for _, a := range c.actions(uri, line, context) {
		if !strings.HasPrefix(a.Title, title) {
			continue
		}
		if a.Command != nil {
			c.does(a.Command.Command, a.Command.Arguments...)
		}
		return
	}
	c.t.Fatalf("no action %q on line %d", title, line)
}

// eventually polls a condition that no message announces.
func (c *langClient) eventually(what string, holds func() bool) {
	c.t.Helper()
	if !world.Comes(world.Patience, holds) {
		c.t.Fatalf("waited in vain until %s", what)
	}
}
