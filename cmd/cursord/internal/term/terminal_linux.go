package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
	dropTyped  = unix.TCSETSF // sets, and drops what was typed and not read
	typedBytes = unix.TIOCINQ
)
