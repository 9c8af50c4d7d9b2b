//go:build unix

package daemon

import (
	"errors"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
