package api

import (
	"strings"
	"unicode/utf8"

	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// notFound returns the error for an object that the store does not have, and names the object.
func notFound(err error) *Error {
	const nameMax = 200
	e := &Error{Kind: KindNotFound, Message: "no such session, turn or item"}
	what, named := strings.CutSuffix(err.Error(), ": "+sessions.ErrNotFound.Error())
	if named && utf8.ValidString(what) {
		e.Message = "no such " + wire.CutText(what, nameMax)
	}
	switch {
	case strings.HasPrefix(what, "session "):
		e.Hint = "list all sessions: cursord sessions --all"
	case strings.HasPrefix(what, "turn "):
		e.Hint = "list a session's turns: cursord show SESSION"
	}
	return e
}
