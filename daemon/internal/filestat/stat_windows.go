package filestat

import (
	"io/fs"
	"os"
	"syscall"

	"cursord/daemon/internal/clock"
)

// ChangeTimes says that Stat.Ctime is when the file was last changed in any way, whatever was done to its mtime.
const ChangeTimes = false

// Of returns the state of a path itself; zero if it cannot be found. In the place of the time of its last change
// of any kind there is that of its content.
func Of(path string) Stat {
	info, err := os.Lstat(path)
	if err != nil {
		return Stat{}
	}
	st, _ := OfInfo(info)
	return st
}

// OfInfo is Linked for what package os has told of a path.
func OfInfo(info fs.FileInfo) (_ Stat, names uint64) {
	t := info.ModTime().UnixNano()
	return Stat{Size: info.Size(), Mtime: t, Ctime: t, Mode: info.Mode() & (fs.ModePerm | fs.ModeType)}, 0
}

// Linked is Of, and tells how many names the file has; 0 where the system does not say.
func Linked(path string) (_ Stat, names uint64) { return Of(path), 0 }

// Born returns the moment of package clock at which a path was made, if the file system knows.
func Born(path string) (moment int64, known bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return 0, false
	}
	return clock.Moment(data.CreationTime.Nanoseconds()), true
}
