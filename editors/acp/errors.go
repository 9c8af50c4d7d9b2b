package acp

import (
	"errors"
	"strings"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/editors/acp/updates"
	"cursord/rpc"
	"cursord/sessions"
)

// failure turns an error of the daemon into one with ACP's codes, for a request by the name that the editor or a person knows. The hint is in the
// message too: most editors show only that.
func failure(err error, name string) *rpc.Error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return &rpc.Error{Code: rpc.CodeInternal, Message: err.Error(), Data: rpc.ErrorData{Kind: api.KindInternal}}
	}
	out := *e
	if strings.HasPrefix(e.Message, rpc.EndedBefore) {
		out.Message = rpc.EndedBefore + name
	}
	out.Message = withHint(out.Message, e.Data.Hint)
	out.Code = rpc.CodeInternal
	switch kind := e.Data.Kind; {
	case kind == "": // our own, which has its code
		out.Code = e.Code
	case kind == api.KindInvalid, kind == api.KindTooLarge && e.Data.Field != "": // a parameter is; the copy of a folder is none
		out.Code = rpc.CodeInvalidParams
	case kind == api.KindNotFound:
		out.Code = protocol.CodeResourceNotFound
	case kind == api.KindAgentNotLoggedIn:
		out.Code = protocol.CodeAuthRequired
	case kind == api.KindCancelled:
		out.Code = rpc.CodeCancelled
	}
	return &out
}

func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + " – " + updates.Worded(hint)
}

// turnFailure is the answer to the prompt of a turn that has failed or was interrupted.
func turnFailure(t *sessions.Turn) *rpc.Error {
	why := updates.Failure(t)
	return &rpc.Error{Code: rpc.CodeInternal, Message: why.Message, Data: rpc.ErrorData{Kind: api.ErrorKind(why.Kind), Hint: why.Hint}}
}

func invalid(field, message string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: field + ": " + message, Data: rpc.ErrorData{Kind: api.KindInvalid, Field: field}}
}

// unknownSession is the error for a session that the editor has not opened.
func unknownSession(id string) *rpc.Error {
	if id == "" {
		return invalid("sessionId", "must be the id of a session")
	}
	return &rpc.Error{Code: protocol.CodeResourceNotFound, Message: "session " + id + " is not open here: session/load or session/resume opens it", Data: rpc.ErrorData{
		Kind: api.KindNotFound,
	}}
}
