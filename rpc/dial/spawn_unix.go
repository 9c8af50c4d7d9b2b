//go:build unix

package dial

import (
	"os"
	"strconv"
	"syscall"
)

// Detached makes a process the leader of a session without a terminal.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepFiles keeps the files that we were started with, such as a lock or the end of a pipe, from what we start: what
// outlives us would hold them for as long as it runs. Those that we opened ourselves are kept from it already.
func keepFiles() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a daemon that holds too much is better than none
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
