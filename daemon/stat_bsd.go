//go:build darwin || freebsd

package daemon

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// changeTimes says that fileStat.ctime is when the file was last changed in any way, whatever was done to its mtime.
const changeTimes = true

// lstat returns the state of a path itself; zero if it cannot be found.
func lstat(path string) fileStat {
	info, err := os.Lstat(path)
	if err != nil {
		return fileStat{}
	}
	s := fileStat{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino, s.ctime = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
	return s
}

// born returns when a path was made, if the file system knows.
func born(path string) (t time.Time, known bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Birthtimespec.Unix()), st.Birthtimespec.Sec > 0
}
