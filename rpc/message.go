package rpc

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"cursord/agent/jsontext"
)

// A Message is one JSON-RPC message; its members are as they were sent. ID is nil in a notification. Method is empty in a
// response, which has Result or Error. Params is nil if absent or null.
type Message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// IsResponse reports whether m answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" }

// ParseMessage checks that body is a request, a notification or a response. If it is none, Message.ID is the id with which to answer the error,
// nil for null. Member names must match exactly; of two members with one name, the last counts.
func ParseMessage(body []byte) (Message, *Error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return Message{}, &Error{Code: CodeParse, Message: "malformed JSON"}
	}
	body = bytes.TrimSpace(body)
	switch body[0] {
	case '{':
	case '[':
		return Message{}, notRequest("batch not supported")
	default:
		return Message{}, notRequest("a message is an object")
	}

	var m Message
	var id, method json.RawMessage
	for name, value := range jsontext.Value(body).Members() {
		value := json.RawMessage(slices.Clip(value))
		switch string(name) {
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
	}
	switch {
	case id == nil:
	case id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9':
		m.ID = bytes.Clone(id) // outlives the body
	case id[0] == 'n' && method == nil && (m.Result != nil || m.Error != nil):
		// A peer answers so what it could not read. It counts as a response, because two peers that answer it would never end.
		m.ID = id
	default:
		return m, notRequest("an id is a string or a number")
	}
	if method == nil && m.ID != nil && (m.Result != nil || m.Error != nil) {
		return m, nil
	}
	if method == nil || method[0] != '"' {
		return m, notRequest("a request has a method, which is a string")
	}
	if m.Method = jsontext.Unquote(method); m.Method == "" {
		return m, notRequest("a method has a name")
	}
	if m.Params != nil {
		switch m.Params[0] {
		case '{', '[':
		case 'n':
			m.Params = nil
		default:
			return m, notRequest("params is an object or an array")
		}
	}
	return m, nil
}

func notRequest(message string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: message}
}

// encode returns v in JSON, on one line, without the escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// AppendRequest appends a request, or a notification if id is nil, to dst. Nil params are left out.
func AppendRequest(dst []byte, id json.RawMessage, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	name, err := encode(method)
	if err != nil { // a string can always be encoded
		panic(err)
	}
	dst = append(append(dst, `,"method":`...), name...)
	if params != nil {
		dst = append(append(dst, `,"params":`...), params...)
	}
	return append(dst, '}')
}

// AppendResponse appends a response to dst, with the error if there is one, else with the result. A nil id is null.
func AppendResponse(dst []byte, id, result json.RawMessage, e *Error) []byte {
	if e == nil {
		return appendResponse(dst, id, "result", result)
	}
	raw, err := encode(e)
	if err != nil { // an Error can always be encoded
		panic(err)
	}
	return appendResponse(dst, id, "error", raw)
}

// appendResponse appends a response with its result or error member.
func appendResponse(dst []byte, id json.RawMessage, member string, value json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"`...), member...)
	dst = append(append(dst, `":`...), value...)
	return append(dst, '}')
}
