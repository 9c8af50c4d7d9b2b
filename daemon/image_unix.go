//go:build unix

package daemon

import (
	"errors"
	"io/fs"
	"syscall"
)

// permissions returns what review keeps of a mode.
func permissions(mode fs.FileMode) uint32 { return uint32(mode.Perm()) }

func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
