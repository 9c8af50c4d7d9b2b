//go:build unix

package sessions

import (
	"os"

	"golang.org/x/sys/unix"
)

// unlock gives up bbolt's lock of a file. It is not enough to close the file, because the map keeps it open.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
