//go:build darwin || freebsd

package filestat

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ChangeTimes says that Stat.Ctime is when the file was last changed in any way, whatever was done to its mtime.
const ChangeTimes = true

// Of returns the state of a path itself; zero if it cannot be found.
func Of(path string) Stat {
	info, err := os.Lstat(path)
	if err != nil {
		return Stat{}
	}
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano(), Mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Ctime = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
	return s
}

// Born returns when a path was made, if the file system knows.
func Born(path string) (t time.Time, known bool) {
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
