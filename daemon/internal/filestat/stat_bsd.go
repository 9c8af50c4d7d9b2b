//go:build darwin || freebsd

package filestat

import (
	"io/fs"
	"os"
	"syscall"

	"cursord/daemon/internal/clock"
)

// ChangeTimes says that Stat.Ctime is when the file was last changed in any way, whatever was done to its mtime.
const ChangeTimes = true

// Of returns the state of a path itself; zero if it cannot be found.
func Of(path string) Stat {
	st, _ := Linked(path)
	return st
}

// Linked is Of, and tells how many names the file has; 0 where the system does not say.
func Linked(path string) (_ Stat, names uint64) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stat{}, 0
	}
	return OfInfo(info)
}

// OfInfo is Linked for what package os has told of a path.
func OfInfo(info fs.FileInfo) (_ Stat, names uint64) {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano(), Mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Ctime, names = uint64(st.Dev), st.Ino, st.Ctimespec.Nano(), uint64(st.Nlink)
	}
	return s, names
}

// Born returns the moment of package clock at which a path was made, if the file system knows.
func Born(path string) (moment int64, known bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return clock.Moment(st.Birthtimespec.Nano()), st.Birthtimespec.Sec > 0
}
