package api

import (
	"fmt"

	"cursord/sessions"
)

// An ErrorKind is a failure's name for programs; PROTOCOL.md lists them with their codes.
type ErrorKind string

const (
	KindInvalid            ErrorKind = "invalid" // a parameter is wrong; Field names it
	KindCancelled          ErrorKind = "cancelled"
	KindNotFound           ErrorKind = "notFound"
	KindBusy               ErrorKind = "busy"
	KindConflict           ErrorKind = "conflict" // Diff is the present one
	KindOutsideWorkspace   ErrorKind = "outsideWorkspace"
	KindWorkspaceUntrusted ErrorKind = "workspaceUntrusted"
	KindBaselineUnknown    ErrorKind = "baselineUnknown"
	KindAgentNotInstalled  ErrorKind = "agentNotInstalled"
	KindAgentNotLoggedIn   ErrorKind = "agentNotLoggedIn"
	KindAgentFailed        ErrorKind = "agentFailed"
	KindStorage            ErrorKind = "storage"
	KindTooLarge           ErrorKind = "tooLarge"
	KindUnavailable        ErrorKind = "unavailable" // the daemon ends, or cannot be reached; nothing has happened
	KindInternal           ErrorKind = "internal"
	KindMaybeYours         ErrorKind = "maybeYours" // only of a Skipped hunk: no call of the agent explains it
)

// An Error is the answer to a request that could not be served.
type Error struct {
	Kind    ErrorKind
	Message string         // for people: what is wrong
	Hint    string         // what to do next
	Field   string         // the parameter, where one is wrong
	Path    string         // for KindWorkspaceUntrusted: the folder that is to be trusted
	Diff    *sessions.Diff // for KindConflict: the present state, if there is one
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error of a kind, with a message as fmt.Sprintf makes it.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an Error of KindInvalid about a field, whose name its message begins with.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...)}
}
