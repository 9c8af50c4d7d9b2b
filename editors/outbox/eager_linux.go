package outbox

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxEager is how many bytes a pipe takes without waiting when it has room at all: a page.
const maxEager = 4096

// roomIn returns a function that reports whether w, a pipe, takes maxEager bytes without waiting; nil if w is no pipe.
func roomIn(w io.Writer) func() bool {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	return func() (room bool) {
		err := raw.Control(func(fd uintptr) {
			polled := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			n, err := unix.Poll(polled[:], 0)
			room = err == nil && n == 1 && polled[0].Revents == unix.POLLOUT
		})
		return err == nil && room
	}
}
