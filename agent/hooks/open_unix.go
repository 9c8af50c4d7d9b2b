//go:build unix

package hooks

import "syscall"

// nonBlocking makes an open not wait for the other end if the file has been replaced by a pipe.
const nonBlocking = syscall.O_NONBLOCK
