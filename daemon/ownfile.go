package daemon

import (
	"errors"
	"fmt"
	"os"
)

// ErrForeign is returned where a socket, or a file or folder beside it, belongs to another user.
var ErrForeign = errors.New("it belongs to another user")

type foreignError struct {
	path         string
	owner, wants int
}

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s belongs to user %d, not to you (%d)", e.path, e.owner, e.wants)
}

func (e *foreignError) Is(err error) bool { return err == ErrForeign }

// OpenRegular opens a file as os.OpenFile does, and refuses what is no regular file without waiting for anybody, as the
// opening of a pipe would.
func OpenRegular(path string, flag int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonBlocking, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file: move it away", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openOwn opens a regular file of this user's for reading, and follows no link. It does not open what another user has put
// there: that could already have an effect.
func openOwn(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := checkOwn(path, info); err != nil {
		return nil, err
	}
	return openOwnAs(path, os.O_RDONLY)
}

// openOwnAs opens a regular file of this user's, and follows no link.
func openOwnAs(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonBlocking|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOwn(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkOwn(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: move it away", path)
	}
	return checkOwner(path, info)
}
