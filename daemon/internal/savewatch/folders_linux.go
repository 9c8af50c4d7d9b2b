package savewatch

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Folders reports saves of any file in some folders, as far as these can be watched. It counts nothing, and may miss some.
type Folders struct {
	file  *os.File
	conn  syscall.RawConn
	dirs  map[int32]string // by watch
	ended chan struct{}    // closed when its goroutine has ended
}

// WatchFolders begins to watch folders, given by their absolute paths, at most MaxAllFolders. It calls saved with the paths
// of saved files, one call at a time, each path once in a call. It returns nil if nothing can be watched.
func WatchFolders(dirs []string, saved func(paths []string)) *Folders {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	f := &Folders{file: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}, ended: make(chan struct{})}
	if f.conn, err = f.file.SyscallConn(); err != nil {
		f.file.Close()
		return nil
	}
	for _, dir := range dirs[:min(len(dirs), MaxAllFolders)] {
		// A folder that no longer exists does not matter. If there is no room for more watches, the earlier folders are
		// watched.
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
		if err == unix.ENOSPC {
			break
		}
		if err == nil {
			f.dirs[int32(wd)] = dir
		}
	}
	go f.run(fd, saved)
	return f
}

func (f *Folders) run(fd int, saved func(paths []string)) {
	defer close(f.ended)
	buf := make([]byte, 16<<10)
	_ = f.conn.Read(func(uintptr) (ended bool) { // an error means that the file is closed
		for {
			n, err := unix.Read(fd, buf)
			if err == unix.EINTR {
				continue
			}
			if err != nil || n <= 0 {
				return false
			}
			if paths := f.paths(buf[:n]); len(paths) > 0 {
				saved(paths)
			}
		}
	})
}

// paths returns the files that events name, each once.
func (f *Folders) paths(events []byte) (paths []string) {
	seen := map[string]bool{}
	for b := events; len(b) >= unix.SizeofInotifyEvent; {
		wd, ev := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
		name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
		b = b[end:]
		switch dir, known := f.dirs[wd]; {
		case ev&unix.IN_IGNORED != 0:
			delete(f.dirs, wd)
		case known && name != "" && ev&unix.IN_ISDIR == 0:
			if path := filepath.Join(dir, name); !seen[path] {
				seen[path] = true
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Close ends the watch. saved is not called after it has returned.
func (f *Folders) Close() {
	if f == nil {
		return
	}
	f.file.Close()
	<-f.ended
}
