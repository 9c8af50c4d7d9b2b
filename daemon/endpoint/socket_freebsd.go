package endpoint

import (
	"os"

	"golang.org/x/sys/unix"
)

// checkDaemon returns an error unless we may end a process.
func checkDaemon(pid int, _ *os.File) error { return unix.Kill(pid, 0) }
