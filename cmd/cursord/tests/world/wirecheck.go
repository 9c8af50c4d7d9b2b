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

// The messages of these tests are checked against rpc/schema.json, in both directions. An editor's connection is recorded
// and checked at the end of its test, so that the test itself is not slowed down. The same goes for "cursord stdio" and, in
// scripts, for the daemon.

// The notifications of a flood are alike. So of each kind on a connection the first are checked, and after that one of
// noticeSample.
const firstNotices, noticeSample = 200, 50

// wires returns the folder in which a world's processes record their messages; "" if they do not.
func (w *World) wires() string {
	if _, bench := w.T.(*testing.B); bench || w.Huge {
		return ""
	}
	return filepath.Join(w.Dir, "wires")
}

// CheckWires checks the records in a folder. With hostile peers it checks only the daemon's notifications and errors.
func CheckWires(t testing.TB, dir string, hostile bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		checkWire(t, file, hostile)
	}
}

// Checked returns the client's side of a connection, whose messages are checked at the end of the test.
func (w *World) Checked(conn io.ReadWriteCloser) io.ReadWriteCloser {
	dir := w.wires()
	if dir == "" {
		return conn
	}
	file, err := os.CreateTemp(dir, "editor-")
	if err != nil {
		return conn // the test is about a full disk
	}
	tracer := rpc.NewTracer(file)
	traced := tracer.Conn(conn)
	t := w.T
	t.Cleanup(func() {
		traced.Close()
		// A message that could not be recorded is not checked.
		_ = tracer.Wait()
		file.Close()
		checkWire(t, file.Name(), w.Hostile)
		os.Remove(file.Name())
	})
	return traced
}

// checkWire checks one record of messages.
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
			return // a killed process leaves half a line
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
		if head, message, ok := bytes.Cut(raw, []byte(`,"message":`)); ok && len(head) < 200 { // otherwise a long message would be decoded twice
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

// noticeOf returns the method of a recorded line, if the daemon sends floods of it; otherwise "".
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

// A wireCheck checks the messages of one connection.
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

// message checks one message. Parameters may be wrong if the request was refused for that reason.
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
	case fromClient: // responses, and lines that are no message
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
		return // the request came before the recording began, or another request has its id
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

// fits checks a value against the schema at a place in the file.
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

// pointer escapes a name for a JSON pointer.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "$", "%24").Replace(name)
}

// schemas holds the parts of a schema, each compiled at its first use.
type schemas struct {
	compiler *jsonschema.Compiler
	file     map[string]any

	mu   sync.Mutex
	made map[string]*jsonschema.Schema
}

var wireSchemas = sync.OnceValue(func() *schemas { return schemasIn(Top("rpc", "schema.json")) })

// schemasIn returns the parts of a file.
func schemasIn(path string) *schemas {
	raw, err := os.ReadFile(path)
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
}

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

// has reports whether the file has a place. The compiler panics if it has not.
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
