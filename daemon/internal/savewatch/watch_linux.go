package savewatch

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A system is an inotify instance. The Watch's mutex guards its maps.
type system struct {
	file  *os.File // closed without the mutex, but only once w.sys is nil
	fd    int
	conn  syscall.RawConn
	paths map[int32]string // of folders, by watch
	wds   map[string]int32
	buf   []byte
	ended chan struct{} // closed when its goroutine has ended
}

const mask = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// start makes a system and the goroutine that reads its events. w.mu must be held.
func (w *Watch) start() (*system, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	s := &system{
		file: os.NewFile(uintptr(fd), "inotify"), fd: fd, paths: map[int32]string{}, wds: map[string]int32{}, buf: make([]byte, 16<<10),
		ended: make(chan struct{}),
	}
	if s.conn, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
		return nil, err
	}
	go s.run(w)
	return s, nil
}

// run reads events until the file is closed.
func (s *system) run(w *Watch) {
	defer close(s.ended)
	_ = s.conn.Read(func(uintptr) (ended bool) { // an error means that the file is closed
		w.take(func() { s.drain(w) })
		return false
	})
}

// drain handles the events that have come. w.mu must be held.
func (s *system) drain(w *Watch) {
	for w.sys == s {
		n, err := unix.Read(s.fd, s.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		for b := s.buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, ev := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
			b = b[end:]
			s.event(w, wd, ev, name)
		}
	}
}

func (s *system) event(w *Watch, wd int32, ev uint32, name string) {
	dir, known := s.paths[wd]
	switch {
	case ev&unix.IN_Q_OVERFLOW != 0:
		w.lose("")
	case !known:
	case ev&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
		w.lose(dir)
		if delete(w.folders, dir); ev&unix.IN_IGNORED == 0 {
			s.remove(dir) // it may be elsewhere now
		}
		delete(s.paths, wd)
		delete(s.wds, dir)
	default:
		w.each(filepath.Join(dir, name), func(f *File) {
			switch {
			case ev&(unix.IN_MODIFY|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
				f.begun = true
			case ev&unix.IN_MOVED_TO != 0, ev&unix.IN_CLOSE_WRITE != 0 && f.begun:
				f.saved(1)
			}
		})
	}
}

func (s *system) add(dir string) error {
	wd, err := unix.InotifyAddWatch(s.fd, dir, mask)
	if err != nil {
		return os.NewSyscallError("inotify_add_watch", err)
	}
	s.paths[int32(wd)], s.wds[dir] = dir, int32(wd)
	return nil
}

func (s *system) remove(dir string) {
	wd, known := s.wds[dir]
	if !known {
		return
	}
	delete(s.wds, dir)
	delete(s.paths, wd)
	_, _ = unix.InotifyRmWatch(s.fd, uint32(wd)) // it may have ended by itself
}

func (s *system) close() {
	s.file.Close()
	<-s.ended
}
