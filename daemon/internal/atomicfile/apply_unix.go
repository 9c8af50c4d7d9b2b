//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// replaceable reports whether replacing f by a new file would lose nothing: no other hard link, no extended attribute.
func replaceable(f *os.File, info fs.FileInfo) bool {
	if linksOf(info).Names > 1 {
		return false
	}
	names := make([]byte, 4096)
	n, err := unix.Flistxattr(int(f.Fd()), names)
	if err != nil {
		return err == unix.ENOTSUP
	}
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if name != "" && name != "security.selinux" && name != "com.apple.provenance" {
			return false
		}
	}
	return true
}

// linksOf returns the identity of a file and its number of names; the zero Links if the system gives neither.
func linksOf(info fs.FileInfo) Links {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Links{}
	}
	return Links{Dev: uint64(st.Dev), Ino: uint64(st.Ino), Names: uint64(st.Nlink)}
}

// keepOwner gives f the owner of like, or returns errOwner.
func keepOwner(f *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	var have syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &have); err != nil {
		return err
	}
	if have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if f.Chown(int(want.Uid), int(want.Gid)) != nil {
		return errOwner
	}
	return nil
}

func syncFolder(d *os.File) error { return d.Sync() }
