package endpoint

import (
	"errors"
	"fmt"
	"io"
	"os"

	"cursord/daemon/internal/filestat"
)

// ErrForeign is returned if a socket, or a file or folder beside it, belongs to another user.
var ErrForeign = errors.New("it belongs to another user")

type foreignError struct {
	path         string
	owner, wants int
}

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s belongs to user %d, not to you (%d)", e.path, e.owner, e.wants)
}

func (e *foreignError) Is(err error) bool { return err == ErrForeign }

// OpenRegular opens a file as os.OpenFile does. It refuses anything but a regular file, without waiting as the opening of a
// pipe would.
func OpenRegular(path string, flag int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|filestat.NonBlocking, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: move it away", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenOwn opens a regular file of this user's for reading, and follows no link. It does not open another user's file, since
// opening could already have an effect.
func OpenOwn(path string) (*os.File, error) {
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
	f, err := os.OpenFile(path, flag|filestat.NonBlocking|noFollow, 0o600)
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
		return fmt.Errorf("%s is not a regular file: move it away", path)
	}
	return checkOwner(path, info)
}

// checkOwnOrRoot returns an ErrForeign unless a file is this user's or root's.
func checkOwnOrRoot(path string, info os.FileInfo) error {
	err := checkOwner(path, info)
	if foreign := (*foreignError)(nil); errors.As(err, &foreign) && foreign.owner == 0 {
		return nil
	}
	return err
}

// maxConfig bounds the size of the configuration, in bytes; it is far above every real one.
const maxConfig = 1 << 20

// ReadConfig reads a configuration, which must be a regular file or /dev/null. It must belong to this user or root, because
// it names programs that run as this user.
func ReadConfig(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return nil, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: write the configuration into one, or name another with CURSORD_CONFIG", path)
	}
	if err := checkOwnOrRoot(path, info); err != nil {
		return nil, fmt.Errorf("%w: copy it, and set CURSORD_CONFIG to the copy", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxConfig)
	}
	return data, err
}
