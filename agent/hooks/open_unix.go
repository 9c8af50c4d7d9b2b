//go:build unix

package hooks

import "syscall"

// nonBlocking opens a pipe that has come in the place of a file without waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK
