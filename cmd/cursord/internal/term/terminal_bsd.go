//go:build darwin || freebsd

package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAW
	dropTyped  = unix.TIOCSETAF // sets, and drops what was typed and not read
	typedBytes = 0x4004667f     // FIONREAD
)
