//go:build unix

package world

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// The messages of these tests are held against rpc/schema.json, in both directions. What goes over an editor's connection
// is recorded and looked at when its test has ended, so that nothing gets slower meanwhile; so are those of "cursord stdio"
// and, in the scripts, of the daemon.

// A flood of notifications of one kind is all alike: of a connection's, the first ones are looked at, and then one of many.
const firstNotices, noticeSample = 200, 50

// wires is where the processes of a world record what their editors say and hear; "" if they do not.
func (w *World) wires() string {
	if _, bench := w.T.(*testing.B); bench {
		return ""
	}
	return filepath.Join(w.Dir, "wires")
}

// CheckWires looks at what was recorded in a folder; of hostile peers, at what the daemon says unasked, and at errors.
func CheckWires(t testing.TB, dir string, hostile bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		checkWire(t, file, hostile)
	}
}

// Checked returns conn, the client's side of a connection, with its messages looked at when the test has ended.
func (w *World) Checked(conn io.ReadWriteCloser) io.ReadWriteCloser {
	dir := w.wires()
	if dir == "" {
		return conn
	}
	file, err := os.CreateTemp(dir, "editor-")
	if err != nil {
		return conn // a full disk is what the test is about
	}
	tracer := rpc.NewTracer(file)
	traced := tracer.Conn(conn)
	t := w.T
	t.Cleanup(func() {
		traced.Close()
		// What could not be recorded is not looked at.
		_ = tracer.Wait()
		file.Close()
		checkWire(t, file.Name(), w.Hostile)
		os.Remove(file.Name())
	})
	return traced
}

// checkWire looks at a record of messages.
func checkWire(t testing.TB, path string, hostile bool) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	connections := map[int]*wireCheck{}
	notices := map[string]int{} // by method
	in := bufio.NewReaderSize(file, 1<<16)
	for {
		raw, err := in.ReadBytes('\n')
		if err != nil {
			return // a process that was killed leaves a line half written
		}
		if method := noticeOf(raw); method != "" {
			notices[method]++
			if n := notices[method]; n > firstNotices && n%noticeSample != 0 {
				continue
			}
		}
		var line struct {
			Connection int
			Direction  string
			Message    json.RawMessage
			Text       string
		}
		if head, message, ok := bytes.Cut(raw, []byte(`,"message":`)); ok && len(head) < 200 { // else a long message is read twice
			require.NoError(t, json.Unmarshal(append(bytes.Clone(head), '}'), &line), "%s: %.300s", path, raw)
			line.Message = bytes.TrimSuffix(message, []byte("}\n"))
		} else {
			require.NoError(t, json.Unmarshal(raw, &line), "%s: %.300s", path, raw)
		}
		c := connections[line.Connection]
		if c == nil {
			c = &wireCheck{t: t, editor: strings.Contains(path, "editor-"), hostile: hostile, asked: map[string]askedFor{}}
			connections[line.Connection] = c
		}
		fromClient := line.Direction == "in" != c.editor // an editor's own connection is recorded from its side
		if line.Message != nil {
			c.message(fromClient, line.Message)
		} else if line.Text != "" && !fromClient {
			t.Errorf("%s: the daemon sent what is no JSON: %.300s", path, line.Text)
		}
	}
}

// noticeOf returns the method of a recorded line, if it is one that the daemon floods clients with; else "".
func noticeOf(raw []byte) string {
	_, rest, ok := bytes.Cut(raw[:min(len(raw), 400)], []byte(`"method":"`))
	if !ok {
		return ""
	}
	method, _, _ := bytes.Cut(rest, []byte(`"`))
	if !bytes.HasSuffix(method, []byte("/changed")) && !bytes.HasSuffix(method, []byte("/delta")) {
		return ""
	}
	return string(method)
}

// A wireCheck looks at the messages of one connection.
type wireCheck struct {
	t       testing.TB
	editor  bool
	hostile bool
	asked   map[string]askedFor // requests without an answer, by id
}

type askedFor struct {
	method string
	params json.RawMessage
}

// message looks at one message. Parameters that were refused as wrong may be wrong; all others must be as the schema says.
func (c *wireCheck) message(fromClient bool, raw json.RawMessage) {
	var m struct {
		ID     json.RawMessage
		Method *string
		Params json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		assert.True(c.t, fromClient, "the daemon sent %.300s", raw)
		return
	}
	switch {
	case fromClient && m.Method != nil && m.ID != nil:
		c.asked[string(m.ID)] = askedFor{*m.Method, m.Params}
	case fromClient && m.Method != nil:
		if at := "/$defs/ClientNotifications/properties/" + pointer(*m.Method); !c.hostile && wireSchemas().has(at) {
			c.fits(at, m.Params, *m.Method)
		}
	case fromClient: // responses, and what is no message
	case m.Method != nil:
		c.fits("/$defs/Notifications/properties/"+pointer(*m.Method), m.Params, *m.Method)
	default:
		c.response(m.ID, m.Result, m.Error)
	}
}

func (c *wireCheck) response(id, result, failure json.RawMessage) {
	q, known := c.asked[string(id)]
	delete(c.asked, string(id))
	if failure != nil {
		c.fits("/properties/error", failure, "the error of "+q.method)
		var e struct{ Code int }
		_ = json.Unmarshal(failure, &e)
		if slices.Contains([]int{rpc.CodeInvalidParams, rpc.CodeInvalidRequest, rpc.CodeMethodNotFound, rpc.CodeCancelled, rpc.CodeUnavailable}, e.Code) {
			return
		}
	}
	if !known || c.hostile {
		return // it was asked before somebody recorded it; or other requests have its id
	}
	name := ""
	for word := range strings.SplitSeq(q.method, "/") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	at := "/$defs/" + name + "Request/properties"
	c.fits(at+"/params", q.params, "the parameters of "+q.method)
	if failure == nil {
		c.fits(at+"/result", result, "the result of "+q.method)
	}
}

// fits compares a value with the schema at a place of the file.
func (c *wireCheck) fits(at string, raw json.RawMessage, what string) {
	if raw == nil || string(raw) == "null" && strings.HasSuffix(at, "/params") {
		raw = json.RawMessage("{}")
	}
	schema, err := wireSchemas().at(at)
	if err != nil {
		c.t.Errorf("%s is not in rpc/schema.json: %v", what, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		c.t.Errorf("%s is not as rpc/schema.json says: %v\n%.500s", what, err, raw)
	}
}

// pointer makes a name part of a JSON pointer.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "$", "%24").Replace(name)
}

// schemas are the parts of rpc/schema.json, compiled when they are first needed.
type schemas struct {
	compiler *jsonschema.Compiler
	file     map[string]any

	mu   sync.Mutex
	made map[string]*jsonschema.Schema
}

var wireSchemas = sync.OnceValue(func() *schemas {
	raw, err := os.ReadFile(Top("rpc", "schema.json"))
	if err != nil {
		panic(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	s := &schemas{compiler: jsonschema.NewCompiler(), file: doc.(map[string]any), made: map[string]*jsonschema.Schema{}}
	s.compiler.AssertFormat()
	if err := s.compiler.AddResource("cursord:///schema.json", doc); err != nil {
		panic(err)
	}
	return s
})

func (s *schemas) at(place string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made := s.made[place]; made != nil {
		return made, nil
	}
	if !s.has(place) {
		return nil, errors.New("there is no " + place)
	}
	made, err := s.compiler.Compile("cursord:///schema.json#" + place)
	s.made[place] = made
	return made, err
}

// has reports whether the file has a place; the compiler panics where it has not.
func (s *schemas) has(place string) bool {
	var at any = s.file
	for _, name := range strings.Split(place, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$", "%25", "%").Replace(name)
		object, ok := at.(map[string]any)
		if !ok || object[name] == nil {
			return false
		}
		at = object[name]
	}
	return true
}
