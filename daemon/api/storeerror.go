package api

import (
	"errors"

	"cursord/sessions"
)

// StoreError returns the answer for an error of the store.
func StoreError(err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, sessions.ErrNotFound):
		return notFound(err)
	case errors.Is(err, sessions.ErrClosed):
		return ErrStopped
	case errors.Is(err, sessions.ErrContent), errors.Is(err, sessions.ErrDamaged):
		return &Error{Kind: KindStorage, Message: err.Error(), Hint: "check the disk's health"}
	}
	return &Error{
		Kind: KindStorage, Message: "the database cannot store changes: " + err.Error(),
		Hint: "turns continue and are stored later; free disk space, or check the disk",
	}
}

// ErrStopped is the answer to requests while the daemon is stopping.
var ErrStopped = &Error{Kind: KindUnavailable, Message: "the daemon is stopping", Hint: "try again in a moment"}
