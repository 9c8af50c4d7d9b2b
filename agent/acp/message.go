package acp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cursord/agent/failure"
	"cursord/agent/jsontext"
)

// A message is one line of the agent's: a request, a notification or a response. Its values are parts of the line.
type message struct {
	id     jsontext.Value // of a request or a response
	method string         // "" in a response
	other  bool           // it has a member of a request, so that it is no response without a result
	params jsontext.Value
	result jsontext.Value
	err    jsontext.Value
}

// parse reads a line; false if it is not one JSON object.
func parse(line []byte) (m message, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || jsontext.End(line, 0) != len(line) {
		return m, false
	}
	for key, v := range jsontext.Value(line).Members() {
		switch string(key) {
		case "id":
			m.id = v
		case "method":
			m.method = v.Text()
			m.other = m.other || !v.IsNull()
		case "params":
			m.params, m.other = v, true
		case "result":
			m.result = v
		case "error":
			m.err = v
		}
	}
	return m, true
}

// The codes of JSON-RPC, and of ACP, that are read or written here.
const (
	codeRequest   = -32600
	codeNoMethod  = -32601
	codeInvalid   = -32602
	codeNoLogin   = -32000
	codeCancelled = -32800
)

// An errEmpty says that the agent's response has neither a result nor an error.
type errEmpty struct{ method string }

func (e errEmpty) Error() string {
	return fmt.Sprintf("the agent answered %s with neither a result nor an error", e.method)
}

// A rejection is the agent's error response to a request of ours.
type rejection struct {
	method string
	code   int64
	said   string // its message and what its data adds
}

func (r *rejection) Error() string { return r.said }

func rejectionOf(method string, v jsontext.Value) *rejection {
	r := &rejection{method: method}
	o := v.Object(nil)
	r.code, _ = o.Get("code").Int()
	r.said = o.Text("message")
	data := o.Get("data")
	more := data.Text()
	if data.IsObject() {
		more = data.Object(nil).Text("details", "message", "error", "detail")
	}
	if more != "" && more != r.said {
		if r.said != "" {
			r.said += ": "
		}
		r.said += more
	}
	if r.said == "" {
		r.said = fmt.Sprintf("the agent refused %s without a reason (error %d)", method, r.code)
	}
	return r
}

// failure explains a refused request; stderr is what the agent has written beside it.
func (r *rejection) failure(stderr string) *failure.Error {
	if f, known := failure.Classify(r.said, false); known {
		return f
	}
	if f, known := failure.Classify(stderr, true); known {
		return f
	}
	if r.code == codeNoLogin {
		if f, known := failure.Classify("Authentication required", false); known {
			return f
		}
	}
	return &failure.Error{Kind: failure.KindFailed, Message: failure.Plain(r.said), Detail: failure.Detail(stderr)}
}

// The parameters and results that are sent.
type (
	initializeParams struct {
		ProtocolVersion int    `json:"protocolVersion"`
		Capabilities    caps   `json:"clientCapabilities"`
		Info            client `json:"clientInfo"`
	}
	caps struct {
		FS       fsCaps   `json:"fs"`
		Terminal bool     `json:"terminal"`
		Meta     metaCaps `json:"_meta"`
	}
	fsCaps struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	}
	metaCaps struct {
		// Without it the agent's ids of models are others than those of `cursor-agent models`.
		BareModels bool `json:"parameterizedModelPicker"`
	}
	client struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	sessionParams struct {
		SessionID  string     `json:"sessionId,omitempty"`
		Cwd        string     `json:"cwd"`
		MCPServers []struct{} `json:"mcpServers"` // required; the agent takes its servers from its own files
	}
	modeParams struct {
		SessionID string `json:"sessionId"`
		ModeID    string `json:"modeId"`
	}
	promptParams struct {
		SessionID string  `json:"sessionId"`
		Prompt    []block `json:"prompt"`
	}
	block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	cancelParams struct {
		SessionID string `json:"sessionId"`
	}

	nothing struct{}

	// outcomeResult answers requests for a person's decision. The outcome is nested: the agent takes a flat one for a cancel.
	outcomeResult struct {
		Outcome outcome `json:"outcome"`
	}
	outcome struct {
		Outcome  string          `json:"outcome"`
		OptionID json.RawMessage `json:"optionId,omitempty"`
		Answers  []answered      `json:"answers,omitempty"`
		Reason   string          `json:"reason,omitempty"`
	}
	answered struct {
		QuestionID json.RawMessage   `json:"questionId"`
		Selected   []json.RawMessage `json:"selectedOptionIds"`
	}
	errorObject struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
)

// encode returns a message of ours as a line.
func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent can be encoded
	}
	return append(line, '\n')
}

type (
	ourRequest struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	ourNotification struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	ourResult struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}
	ourError struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   errorObject     `json:"error"`
	}
)
