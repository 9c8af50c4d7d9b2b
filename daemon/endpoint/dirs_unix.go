//go:build unix

package endpoint

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// checkPrivate returns an error unless a path is a folder (no link to one) of this user's with none of the permission bits
// in forbidden. Its errors name the variable that chooses another folder.
func checkPrivate(dir string, forbidden os.FileMode, variable string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	elsewhere := "set " + variable + " to a place in a folder of your own"
	if info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link; it must be a directory: replace it, or %s", dir, elsewhere)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: move it away, or %s", dir, elsewhere)
	}
	if err := checkOwner(dir, info); err != nil {
		return fmt.Errorf("%w: %s", err, elsewhere)
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o): run chmod 700 on it, or %s", dir, mode, elsewhere)
	}
	return nil
}

// checkOwner returns an ErrForeign unless a file is this user's.
func checkOwner(path string, info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &foreignError{path, int(st.Uid), os.Geteuid()}
	}
	return nil
}

func uidSuffix() string { return "-" + strconv.Itoa(os.Geteuid()) }

// tempDir is a short folder for a socket whose path would be too long. It is not $TMPDIR, which differs between a user's
// programs.
func tempDir() string { return "/tmp" }

const noFollow = syscall.O_NOFOLLOW
