//go:build unix

package sessions

import (
	"errors"
	"strings"
	"syscall"
)

// isNoSpace also reads the text of err: bbolt does not wrap what growing the file returned.
func isNoSpace(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}

// addressSpaceLimited reports whether the process may map only so much (ulimit -v).
func addressSpaceLimited() bool {
	const unlimited = 1 << 62 // systems differ in what they call infinite
	var limit syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil && uint64(limit.Cur) < unlimited
}
