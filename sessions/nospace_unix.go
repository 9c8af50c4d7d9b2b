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
