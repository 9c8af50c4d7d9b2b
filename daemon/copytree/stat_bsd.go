//go:build darwin || freebsd

package copytree

import (
	"io/fs"
	"os"
	"syscall"
)

// lstat returns the stat of a path itself; zero if it cannot be found.
func lstat(path string) stat {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}
	}
	s := stat{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino, s.ctime = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
	return s
}
