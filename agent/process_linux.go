package agent

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr makes a child the leader of a group that the kernel kills, the leader at least, when the daemon dies.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when a child has ended, and leaves it to be waited for: until then its number is not given to
// another process. It returns false where that is not to be had.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
