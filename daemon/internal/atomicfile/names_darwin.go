package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeNames exchanges the files at two names of a folder in one step.
func exchangeNames(dir *os.File, a, b string) error {
	return renameWith(dir, a, dir, b, unix.RENAME_SWAP)
}

// renameNew renames a file; it returns fs.ErrExist if there is something at the new name.
func renameNew(from *os.File, a string, to *os.File, b string) error {
	return renameWith(from, a, to, b, unix.RENAME_EXCL)
}

func renameWith(from *os.File, a string, to *os.File, b string, flags uint32) error {
	err := unix.RenameatxNp(int(from.Fd()), a, int(to.Fd()), b, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) { // the file system does not know the flag
		return errors.ErrUnsupported
	}
	return err
}

// macOS has no leases.

func leaseAlone(*os.File) error   { return errors.ErrUnsupported }
func leaseReading(*os.File) error { return errors.ErrUnsupported }
func awaited(*os.File) bool       { return false }
