//go:build unix

package filestat

import "syscall"

// NonBlocking is the flag with which opening a FIFO does not wait for its other end.
const NonBlocking = syscall.O_NONBLOCK
