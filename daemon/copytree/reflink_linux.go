package copytree

import (
	"os"

	"golang.org/x/sys/unix"
)

// reflink makes the file dst, which must not be there, share its content with src. Where the file system cannot do
// this, dst may be there afterwards, empty.
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
