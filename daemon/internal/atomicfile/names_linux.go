package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeNames exchanges the files at two names of a folder in one step.
func exchangeNames(dir *os.File, a, b string) error {
	return renameWith(dir, a, dir, b, unix.RENAME_EXCHANGE)
}

// renameNew renames a file; it returns fs.ErrExist if there is something at the new name.
func renameNew(from *os.File, a string, to *os.File, b string) error {
	return renameWith(from, a, to, b, unix.RENAME_NOREPLACE)
}

func renameWith(from *os.File, a string, to *os.File, b string, flags uint) error {
	err := unix.Renameat2(int(from.Fd()), a, int(to.Fd()), b, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system or the kernel does not know the flag
		return errors.ErrUnsupported
	}
	return err
}

// leaseAlone makes everybody who opens the file wait until f, which must be open for writing, is closed. It returns errBusy
// if somebody has it open.
func leaseAlone(f *os.File) error { return lease(f, unix.F_WRLCK) }

// leaseReading makes everybody who opens the file for writing wait until f, which must be open for reading only, is closed.
// It returns errBusy if somebody has it open for writing.
func leaseReading(f *os.File) error { return lease(f, unix.F_RDLCK) }

func lease(f *os.File, kind int) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, kind)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return errBusy
	case err != nil:
		return errors.ErrUnsupported
	}
	return nil
}

// awaited reports whether somebody waits to write a file that has a lease.
func awaited(f *os.File) bool {
	kind, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_UNLCK
}
