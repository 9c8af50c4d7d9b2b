//go:build unix

package dial

import (
	"os"
	"strconv"
	"syscall"
)

// Detached returns attributes that make a process the leader of a session without a terminal.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// closeFilesOnExec has the processes that we start not inherit the files that this process was started with, such as a lock
// or the end of a pipe: a daemon would hold them for as long as it runs. For files that this process opens, Go sees to that.
func closeFilesOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a daemon that holds too many files is better than none
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
