package api

import (
	"errors"
	"fmt"

	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// An ErrorKind names a failure for programs. PROTOCOL.md lists the kinds with their codes.
type ErrorKind string

const (
	KindInvalid            ErrorKind = "invalid" // a parameter is wrong; Field names it
	KindCancelled          ErrorKind = "cancelled"
	KindNotFound           ErrorKind = "notFound"
	KindBusy               ErrorKind = "busy"
	KindConflict           ErrorKind = "conflict" // Diff is the present diff
	KindOutsideWorkspace   ErrorKind = "outsideWorkspace"
	KindWorkspaceUntrusted ErrorKind = "workspaceUntrusted"
	KindBaselineUnknown    ErrorKind = "baselineUnknown"
	KindAgentNotInstalled  ErrorKind = "agentNotInstalled"
	KindAgentNotLoggedIn   ErrorKind = "agentNotLoggedIn"
	KindAgentFailed        ErrorKind = "agentFailed"
	KindStorage            ErrorKind = "storage"
	KindTooLarge           ErrorKind = "tooLarge"
	KindUnavailable        ErrorKind = "unavailable" // the daemon is stopping, or cannot be reached; it did nothing
	KindInternal           ErrorKind = "internal"
	KindMaybeYours         ErrorKind = "maybeYours"   // only in Skipped: no call of the agent explains the change
	KindChangedSince       ErrorKind = "changedSince" // only in Skipped: somebody has changed the file since
	KindForgotten          ErrorKind = "forgotten"    // only in Skipped: what was there before is not known any more
	KindImported           ErrorKind = "imported"     // only in Skipped: the session was imported, and what was there before is not known here
)

// An Error is the answer to a request that failed.
type Error struct {
	Kind    ErrorKind
	Message string         // what is wrong, for people
	Hint    string         // what to do next
	Field   string         // for KindInvalid: the wrong parameter
	Path    string         // for KindWorkspaceUntrusted: the folder to trust
	Diff    *sessions.Diff // for KindConflict: the present state, if there is one
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error of a kind; fmt.Sprintf makes its message.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an Error of KindInvalid about a field. The message begins with the field's name.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// Untrusted returns the Error for a folder in which no agent may run.
func Untrusted(dir string) *Error {
	return &Error{
		Kind: KindWorkspaceUntrusted, Path: dir, Message: dir + " is not trusted: an agent there can run commands and change files",
		Hint: `trust it with workspace/trust {"workspace": …, "trusted": true} or "cursord trust"`,
	}
}

// SkippedBy describes a file that a request leaves because of an error.
func SkippedBy(path string, err error) Skipped {
	s := Skipped{Path: path, Kind: KindInternal, Message: wire.CutText(err.Error(), 500)}
	var e *Error
	if errors.As(err, &e) {
		if s.Kind = e.Kind; e.Hint != "" {
			s.Message += "; " + e.Hint
		}
	}
	return s
}
