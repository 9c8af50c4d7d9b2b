package version

import (
	"os"
	"time"
)

// Written returns the modification time of this program's file.
func Written() time.Time {
	program, err := os.Executable()
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(program)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
