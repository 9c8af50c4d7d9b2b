package daemon

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// changeTimes says that fileStat.ctime is when the file was last changed in any way, whatever was done to its mtime.
const changeTimes = false

// lstat returns the state of a path itself; zero if it cannot be found. In the place of the time of its last change
// of any kind there is that of its content.
func lstat(path string) fileStat {
	info, err := os.Lstat(path)
	if err != nil {
		return fileStat{}
	}
	t := info.ModTime().UnixNano()
	return fileStat{size: info.Size(), mtime: t, ctime: t, mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
}

// born returns when a path was made, if the file system knows.
func born(path string) (t time.Time, known bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, false
	}
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(0, data.CreationTime.Nanoseconds()), true
}
