package rpc

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"cursord/agent/jsontext"

	"github.com/sourcegraph/jsonrpc2"
)

// CancelParams are the parameters of $/cancelRequest.
type CancelParams struct {
	ID json.RawMessage `json:"id"` // a string or a number, of the request
}

// SetTraceParams are the parameters of $/setTrace.
type SetTraceParams struct {
	Value string `json:"value"`
}

// LogTraceParams are the parameters of $/logTrace. Clients get it that have asked for it, by $/setTrace or the member trace
// of initialize.
type LogTraceParams struct {
	Message string `json:"message"`
	Verbose string `json:"verbose,omitempty"` // at the level verbose: the parameters, or the result
}

// A tracing tells a client what its connection does, as LSP defines it: the requests and notifications that arrive, and the
// answers that go out. Other notifications are not traced, because the client gets them anyway.
type tracing struct {
	level atomic.Int32
	send  func([]byte) // nil: nobody listens
}

const (
	traceOff = iota
	traceMessages
	traceVerbose
)

// set takes the value of $/setTrace or initialize; values unknown to LSP change nothing.
func (t *tracing) set(value string) {
	switch value {
	case "off":
		t.level.Store(traceOff)
	case "messages":
		t.level.Store(traceMessages)
	case "verbose":
		t.level.Store(traceVerbose)
	}
}

// setFrom sets the level from a member of params.
func (t *tracing) setFrom(params json.RawMessage, member string) {
	if len(params) == 0 || params[0] != '{' {
		return
	}
	for name, value := range jsontext.Value(params).Members() {
		if string(name) == member && value.IsString() {
			t.set(value.Text())
		}
	}
}

// log sends a $/logTrace with a formatted message. At the level verbose, detail goes along, behind its name what.
func (t *tracing) log(detail json.RawMessage, what, format string, args ...any) {
	level := t.level.Load()
	if level == traceOff || t.send == nil {
		return
	}
	p := LogTraceParams{Message: fmt.Sprintf(format, args...)}
	if level == traceVerbose && detail != nil {
		p.Verbose = what + ": " + string(detail)
	}
	raw, err := encode(p)
	if err != nil { // strings can always be encoded
		panic(err)
	}
	t.send(AppendRequest(nil, nil, "$/logTrace", raw))
}

func (t *tracing) request(c *call) {
	params := c.params
	if c.name == environmentMethod {
		params = hideEnvironment(params)
	}
	t.log(params, "Params", "Received request '%s - (%s)'.", c.name, c.id.Str)
}

func (t *tracing) notification(method string, params json.RawMessage) {
	t.log(params, "Params", "Received notification '%s'.", method)
}

func (t *tracing) response(c *call, r *jsonrpc2.Response) {
	if t.level.Load() == traceOff {
		return
	}
	took := time.Since(c.began).Milliseconds()
	if r.Error != nil {
		t.log(nil, "", "Sending response '%s - (%s)'. Processing request took %dms. Request failed: %s (%d).", c.name, c.id.Str, took, r.Error.Message, r.Error.Code)
		return
	}
	var result json.RawMessage
	if r.Result != nil {
		result = *r.Result
	}
	t.log(result, "Result", "Sending response '%s - (%s)'. Processing request took %dms.", c.name, c.id.Str, took)
}
