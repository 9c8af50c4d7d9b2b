package filestat

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A lookup looks at paths below a folder. It holds open the folder of successive paths, because looking for each from the root
// takes a step for every folder in it. Only one goroutine may use it.
type lookup struct {
	root string
	top  int    // root; -1: it cannot be opened
	dir  string // with a slash at its end; "" is root
	in   int    // dir; -1: it is not open
}

const onlyToLook = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

func newLookup(root string) *lookup {
	return &lookup{root: root, top: openAt(unix.AT_FDCWD, root), in: -1}
}

func openAt(dir int, name string) int {
	for {
		fd, err := unix.Openat(dir, name, onlyToLook, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return -1
		}
		return fd
	}
}

func (l *lookup) close() {
	l.leave()
	if l.top >= 0 {
		unix.Close(l.top)
	}
}

func (l *lookup) leave() {
	if l.in >= 0 {
		unix.Close(l.in)
	}
	l.in = -1
}

// OfOpen is Linked for an open file.
func OfOpen(fd int) (_ Stat, names uint64) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Stat{}, 0
	}
	return of(uint64(st.Dev), st.Ino, st.Size, st.Mode, st.Mtim.Nano(), st.Ctim.Nano()), uint64(st.Nlink)
}

// In is Linked for a name in an open folder.
func In(fd int, name string) (_ Stat, names uint64) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Stat{}, 0
		}
		return of(uint64(st.Dev), st.Ino, st.Size, st.Mode, st.Mtim.Nano(), st.Ctim.Nano()), uint64(st.Nlink)
	}
}

// look is Linked for a path below the root; next is the path that comes next.
func (l *lookup) look(name, next string) (Stat, uint64) {
	if len(l.root)+1+len(name) >= unix.PathMax {
		return Stat{}, 0 // nothing else finds it
	}
	dir, base := name[:strings.LastIndexByte(name, '/')+1], name
	if dir != l.dir {
		l.leave()
		l.dir = dir
	}
	in := l.top
	if dir != "" {
		if l.in < 0 && strings.HasPrefix(next, dir) && l.top >= 0 {
			l.in = openAt(l.top, dir)
		}
		if l.in >= 0 {
			in, base = l.in, name[len(dir):]
		}
	}
	if in < 0 {
		return Linked(l.root + "/" + name) // too many files are open
	}
	return In(in, base)
}
