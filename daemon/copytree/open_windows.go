package copytree

import (
	"errors"
	"io/fs"
	"syscall"
)

const quiet = 0

const errNotDir = syscall.ERROR_ALREADY_EXISTS

// inTheWay reports whether there is something of another kind where a file or a folder should be.
func inTheWay(err error) bool { return errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) }
