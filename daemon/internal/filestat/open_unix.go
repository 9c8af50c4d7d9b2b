//go:build unix

package filestat

import (
	"errors"
	"syscall"
)

// NonBlocking is the flag with which opening a FIFO does not wait for its other end.
const NonBlocking = syscall.O_NONBLOCK

// NotDirectory reports whether an error says that a path leads through something that is no folder: there is nothing
// at that path, then.
func NotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
