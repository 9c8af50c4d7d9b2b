package filestat

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

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
	var st syscall.Stat_t
	for {
		err := syscall.Lstat(path, &st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return Stat{}, 0
		}
		break
	}
	return of(uint64(st.Dev), st.Ino, st.Size, st.Mode, st.Mtim.Nano(), st.Ctim.Nano()), uint64(st.Nlink)
}

// OfInfo is Linked for what package os has told of a path.
func OfInfo(info fs.FileInfo) (_ Stat, names uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{}, 0
	}
	return of(uint64(st.Dev), st.Ino, st.Size, st.Mode, st.Mtim.Nano(), st.Ctim.Nano()), uint64(st.Nlink)
}

// of returns what a system call has told as a Stat.
func of(dev, ino uint64, size int64, bits uint32, mtime, ctime int64) Stat {
	mode := fs.FileMode(bits & 0o777)
	switch bits & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	return Stat{Dev: dev, Ino: ino, Size: size, Mtime: clock.Shown(mtime), Ctime: clock.Shown(ctime), Mode: mode}
}

// Born returns the moment of package clock at which a path was made, if the file system knows.
func Born(path string) (moment int64, known bool) {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0, false
	}
	return clock.Moment(clock.Shown(st.Btime.Sec*1e9 + int64(st.Btime.Nsec))), true
}
