//go:build linux || darwin

package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how much there is to be read in a pipe, in bytes; 0 if the system does not say.
func unread(pipe *os.File) (n int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), fionread) }) // the pipe is closed: nothing comes
	if err != nil {
		return 0
	}
	return n
}
