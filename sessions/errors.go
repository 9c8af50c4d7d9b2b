package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

var (
	// ErrNotFound is returned when nothing is stored under a name.
	ErrNotFound = errors.New("not found")
	// ErrLocked is returned when another process has the database open.
	ErrLocked = errors.New("another process has the database open: stop it (cursord stop) and try again")
	// ErrNewerSchema is returned when the database was written by a newer version of the program.
	ErrNewerSchema = errors.New("the database was written by a newer cursord: update cursord, or choose another state directory with CURSORD_STATE_DIR")
	// ErrNoSpace is returned when the disk or the user's quota is full, or the file would exceed its size limit.
	ErrNoSpace = errors.New("no space left for the database: free space on its disk")
	// ErrClosed is returned when the store is used after Close, and for writes that Close could not commit.
	ErrClosed = errors.New("the database is closed")
	// ErrBadCursor is returned when a cursor is not one that the same list or search gave out.
	ErrBadCursor = errors.New("not a cursor of this list: start again without one")
	// ErrContent is returned when a content that a review or an intent refers to differs from what was stored.
	ErrContent = errors.New("a file's content in the database is damaged: check the file, then accept it as it is or delete the session")
	// ErrDamaged is returned when a part of the database cannot be read; the next Open checks and repairs it.
	ErrDamaged = errors.New("the database is damaged: restart cursord to repair it")
)

// explain turns a failure of the database file into one of the package's sentinels, or else adds what to do next.
func explain(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return ErrClosed
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%s: %w", path, ErrLocked)
	case isNoSpace(err):
		return fmt.Errorf("%s: %w (%w)", path, ErrNoSpace, err)
	case errors.Is(err, syscall.ENOMEM):
		return fmt.Errorf("%s: there is no address space left for the database: raise the limit (ulimit -v, LimitAS= of a service), or make the database smaller with \"cursord gc\" (%w)", path, err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: the file system is read-only: make it writable, or choose another state directory with CURSORD_STATE_DIR (%w)", path, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission: make the file and its directory readable and writable for this user (%w)", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
