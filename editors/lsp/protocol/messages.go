package protocol

import (
	"encoding/json"

	"cursord/rpc"
)

// Failed returns the error in an answer; nil if it has none.
func Failed(m rpc.Message) *rpc.Error {
	if m.Error == nil || string(m.Error) == "null" {
		return nil
	}
	e := &rpc.Error{}
	if json.Unmarshal(m.Error, e) != nil {
		return &rpc.Error{Code: rpc.CodeInternal, Message: string(m.Error)}
	}
	return e
}

// Params returns params as JSON; nil for none.
func Params(params any) json.RawMessage {
	if params == nil {
		return nil
	}
	return Encoded(params)
}

// Encoded returns v as JSON. Everything that is sent can be encoded.
func Encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
