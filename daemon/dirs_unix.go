//go:build unix

package daemon

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// checkPrivate reports why a path is not a folder (itself, no link to one) that is this user's and has none of the
// permission bits in forbidden.
func checkPrivate(dir string, forbidden os.FileMode) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link; it must be a directory", dir)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to you (%d)", dir, st.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o): run chmod 700 on it", dir, mode)
	}
	return nil
}

func uidSuffix() string { return "-" + strconv.Itoa(os.Geteuid()) }

// fallbackTempDir is the shortest place for a socket whose path would be too long.
func fallbackTempDir() string { return "/tmp" }
