package nowait

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader returns a reader of r; r itself if that is no socket. Only one goroutine at a time may read.
func Reader(r io.Reader) io.Reader {
	conn, ok := r.(interface {
		net.Conn
		syscall.Conn
	})
	if !ok {
		return r
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return r
	}
	s := &socket{raw: raw}
	s.try = s.read
	return s
}

type socket struct {
	raw syscall.RawConn
	try func(fd uintptr) bool
	p   []byte
	n   int
	err syscall.Errno
}

func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.p, s.n, s.err = p, 0, 0
	err := s.raw.Read(s.try)
	s.p = nil
	switch {
	case err != nil:
		return 0, err
	case s.err != 0:
		return 0, os.NewSyscallError("read", s.err)
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// read returns false if there is nothing to read.
func (s *socket) read(fd uintptr) bool {
	for {
		n, _, err := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&s.p[0])), uintptr(len(s.p)))
		switch err {
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			s.n, s.err = int(n), err
			return true
		}
	}
}

// maxPipe is how many bytes a pipe takes without waiting when it has room at all: a page.
const maxPipe = 4096

// A Writer writes to a pipe or a socket as much as there is room for. Only one goroutine at a time may use it.
type Writer struct {
	raw  syscall.RawConn
	pipe bool
	try  func(fd uintptr)
	p    []byte
	n    int
}

// NewWriter returns a writer to w; nil if w is neither a pipe nor a socket. Nobody else may write to it meanwhile.
func NewWriter(w io.Writer) *Writer {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	out := &Writer{raw: raw, pipe: info.Mode()&os.ModeNamedPipe != 0}
	out.try = out.write
	return out
}

// Write returns how much of p it has written. If that is not all, an ordinary write tells why. A nil Writer writes nothing.
func (w *Writer) Write(p []byte) int {
	if w == nil || len(p) == 0 || w.pipe && len(p) > maxPipe {
		return 0
	}
	w.p, w.n = p, 0
	_ = w.raw.Control(w.try)
	w.p = nil
	return w.n
}

func (w *Writer) write(fd uintptr) {
	p := unsafe.Pointer(&w.p[0])
	var n uintptr
	var err syscall.Errno
	if w.pipe {
		polled, now := unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT}, unix.Timespec{}
		n, _, err = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		if err != 0 || n != 1 || polled.Revents != unix.POLLOUT {
			return
		}
		n, _, err = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(len(w.p)))
	} else {
		n, _, err = syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(p), uintptr(len(w.p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	}
	if err == 0 {
		w.n = int(n)
	}
}
