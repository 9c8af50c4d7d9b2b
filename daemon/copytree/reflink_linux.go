package copytree

import (
	"os"

	"golang.org/x/sys/unix"
)

// reflink creates the file dst, which must not exist, with the blocks of src. If the file system cannot share blocks, it may
// leave dst behind, empty.
func reflink(src *os.File, dst string) error {
	f, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := unix.IoctlFileClone(int(f.Fd()), int(src.Fd())); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
