//go:build unix

package askgit

import "syscall"

// nonBlocking keeps an open from waiting for the other end of a pipe.
const nonBlocking = syscall.O_NONBLOCK
