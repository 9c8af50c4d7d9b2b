//go:build unix

package sessions

import (
	"os"

	"golang.org/x/sys/unix"
)

// unlock gives up bbolt's lock of a file. To close the file is not enough: what is mapped keeps it open.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
