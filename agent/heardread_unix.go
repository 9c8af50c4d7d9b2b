//go:build unix

package agent

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// readFrom is file.Read, but notes the read before it happens: if the process is stopped between the two, nobody may
// conclude that all output has been processed.
func (h *Heard) readFrom(file *os.File, b []byte) (n int, err error) {
	conn, connErr := file.SyscallConn()
	if h == nil || connErr != nil || len(b) == 0 {
		defer h.read()
		return file.Read(b)
	}
	waitErr := conn.Read(func(fd uintptr) bool {
		all := h.all.Swap(false)
		for {
			n, err = unix.Read(int(fd), b)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if errors.Is(err, unix.EAGAIN) {
			h.all.Store(all)
			return false
		}
		return true
	})
	switch {
	case waitErr != nil:
		h.read()
		return 0, waitErr
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
