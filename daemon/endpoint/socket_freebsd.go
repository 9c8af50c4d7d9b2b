package endpoint

import (
	"os"

	"golang.org/x/sys/unix"
)

// checkDaemon reports why a process is none that we may end.
func checkDaemon(pid int, _ *os.File) error { return unix.Kill(pid, 0) }
