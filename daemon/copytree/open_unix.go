//go:build unix

package copytree

import (
	"errors"
	"syscall"
)

// quiet makes an open follow no link and never wait for a pipe.
const quiet = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

const errNotDir = syscall.ENOTDIR

// inTheWay reports whether there is something of another kind where a file or a folder should be.
func inTheWay(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTEMPTY) ||
		errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ELOOP)
}
