package api

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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

// BackupError returns the answer for an error of a backup to path.
func BackupError(ctx context.Context, path string, err error) error {
	switch {
	case ctx.Err() != nil:
		return &Error{Kind: KindCancelled, Message: "cancelled"}
	case errors.Is(err, sessions.ErrClosed):
		return ErrStopped
	case errors.Is(err, sessions.ErrTooBusy):
		return &Error{Kind: KindBusy, Message: err.Error()}
	case !errors.Is(err, fs.ErrExist):
		return &Error{Kind: KindInvalid, Field: "path", Message: "cannot write the backup: " + err.Error()}
	}
	hint := "choose another name, or overwrite it: cursord backup --force FILE (in the protocol: replace)"
	if info, there := os.Stat(path); there == nil && info.IsDir() {
		hint = "it is a folder; name a file in it: cursord backup " + filepath.Join(path, "cursord.db")
	} else if there != nil {
		hint = "another backup is being written, or a crash left it: remove it if nothing writes it"
		path += sessions.BackupSuffix
	}
	return &Error{Kind: KindInvalid, Field: "path", Message: path + " is there already", Hint: hint}
}

// ErrStopped is the answer to requests while the daemon is stopping.
var ErrStopped = &Error{Kind: KindUnavailable, Message: "the daemon is stopping", Hint: "try again in a moment"}
