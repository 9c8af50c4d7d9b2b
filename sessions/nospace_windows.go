package sessions

import (
	"errors"
	"strings"

	"golang.org/x/sys/windows"
)

// isNoSpace also reads the text of err: bbolt does not wrap what growing the file returned.
func isNoSpace(err error) bool {
	for _, e := range []windows.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}

func addressSpaceLimited() bool { return false }
