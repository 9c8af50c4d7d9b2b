package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"cursord/daemon/api"
	"cursord/sessions"
)

// Codes of JSON-RPC and LSP, and those of ours that clients handle. codeOf has the others.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
	CodeUnavailable    = -32022 // the code of api.KindUnavailable
)

// EndedBefore begins the message of the error for a request whose daemon has ended; the method follows.
const EndedBefore = "the daemon ended before it answered "

// An Error is the error member of a response.
type Error struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    ErrorData `json:"data,omitzero"`
}

// ErrorData is the part of an Error for programs.
type ErrorData struct {
	Kind      api.ErrorKind  `json:"kind,omitempty"`
	Hint      string         `json:"hint,omitempty"`      // what to do next
	Field     string         `json:"field,omitempty"`     // of -32602: the wrong parameter
	Path      string         `json:"path,omitempty"`      // of workspaceUntrusted: the folder that is to be trusted
	Diff      *sessions.Diff `json:"diff,omitempty"`      // of conflict: the present state
	Supported []int          `json:"supported,omitempty"` // of initialize: the protocol versions there are
	// With unavailable: false if the request has certainly had no effect, true if nobody knows.
	MayHaveHappened *bool `json:"mayHaveHappened,omitempty"`
}

func (d ErrorData) isZero() bool {
	return d.Kind == "" && d.Hint == "" && d.Field == "" && d.Path == "" && d.Diff == nil && d.Supported == nil && d.MayHaveHappened == nil
}

func (e *Error) Error() string { return e.Message }

// UnmarshalJSON takes any error object, and drops data of another protocol.
func (e *Error) UnmarshalJSON(b []byte) error {
	var wire struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*e = Error{Code: wire.Code, Message: wire.Message}
	if wire.Data != nil && json.Unmarshal(wire.Data, &e.Data) != nil {
		e.Data = ErrorData{}
	}
	return nil
}

// codeOf returns the code of a kind; for an unknown kind, that of internal errors.
func codeOf(kind api.ErrorKind) int {
	switch kind {
	case api.KindInvalid:
		return CodeInvalidParams
	case api.KindCancelled:
		return CodeCancelled
	case api.KindNotFound:
		return -32001
	case api.KindBusy:
		return -32002
	case api.KindConflict:
		return -32003
	case api.KindOutsideWorkspace:
		return -32004
	case api.KindWorkspaceUntrusted:
		return -32005
	case api.KindBaselineUnknown:
		return -32006
	case api.KindAgentNotInstalled:
		return -32010
	case api.KindAgentNotLoggedIn:
		return -32011
	case api.KindAgentFailed:
		return -32012
	case api.KindStorage:
		return -32020
	case api.KindTooLarge:
		return -32021
	case api.KindUnavailable:
		return CodeUnavailable
	default:
		return CodeInternal
	}
}

// wireError turns any error into one that can be sent. It also finds a wrapped *Error or *api.Error.
func wireError(err error) *Error {
	var own *Error
	var core *api.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &core):
		e := &Error{
			Code:    codeOf(core.Kind),
			Message: err.Error(),
			Data:    ErrorData{Kind: core.Kind, Hint: core.Hint, Field: core.Field, Path: core.Path, Diff: core.Diff},
		}
		if core.Kind == api.KindUnavailable {
			e.Data.MayHaveHappened = new(bool)
		}
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCancelled, Message: "cancelled", Data: ErrorData{Kind: api.KindCancelled}}
	default:
		return &Error{Code: CodeInternal, Message: err.Error(), Data: ErrorData{Kind: api.KindInternal}}
	}
}

// invalid is the error for a wrong parameter.
func invalid(field, message string) *Error {
	return &Error{
		Code:    CodeInvalidParams,
		Message: field + ": " + message,
		Data:    ErrorData{Kind: api.KindInvalid, Field: field},
	}
}
