//go:build unix

package editorfile

import (
	"errors"
	"syscall"
)

// ended reports whether there is no process with an id.
func ended(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
