package protocol

import (
	"encoding/json"
	"fmt"
	"strings"

	"cursord/rpc"
)

// A Target is the argument of a command. Every member is optional; without them the command is about the user's latest
// place.
type Target struct {
	Workspace  string      `json:"workspace,omitempty"`
	Path       string      `json:"path,omitempty"` // of a file: absolute, below "~", or relative to a folder
	Line       int         `json:"line,omitempty"` // from 1
	URI        string      `json:"uri,omitempty"`
	Range      *Range      `json:"range,omitempty"`
	Hunks      []string    `json:"hunks,omitempty"`
	Counted    int         `json:"counted,omitempty"` // the number of a menu: the hunks that it counted
	Comment    string      `json:"comment,omitempty"` // on a reject; the agent gets it
	Turn       string      `json:"turn,omitempty"`
	Session    string      `json:"session,omitempty"`
	New        bool        `json:"new,omitempty"` // begin a new session
	Approval   string      `json:"approval,omitempty"`
	Option     string      `json:"option,omitempty"` // of the approval
	Prompt     string      `json:"prompt,omitempty"`
	Mode       string      `json:"mode,omitempty"`
	Model      string      `json:"model,omitempty"`
	Diagnostic *Diagnostic `json:"diagnostic,omitempty"`
}

// ReadArguments reads a command's arguments: members of several objects are put together, and strings are words.
func ReadArguments(arguments []json.RawMessage) (t *Target, words []string, err error) {
	t = &Target{}
	for i, raw := range arguments {
		switch raw = json.RawMessage(strings.TrimSpace(string(raw))); raw[0] {
		case '{':
			if err := rpc.DecodeParams(raw, t); err != nil {
				e := Wrong(err)
				return nil, nil, Invalid(fmt.Sprintf("arguments[%d].%s", i, e.Data.Field), strings.TrimPrefix(e.Message, e.Data.Field+": "))
			}
		case '"':
			var word string
			_ = json.Unmarshal(raw, &word) // the whole message was valid JSON
			words = append(words, word)
		case 'n':
		default:
			return nil, nil, Invalid(fmt.Sprintf("arguments[%d]", i), "must be a string or an object")
		}
	}
	return t, words, nil
}

// InvalidRequest returns the error of a message that does not belong there.
func InvalidRequest(message string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: message}
}

// Invalid returns the error of a parameter.
func Invalid(field, message string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: field + ": " + message, Data: rpc.ErrorData{Kind: "invalid", Field: field}}
}
