package dirwatch

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ofInstances puts the error of a new instance in words.
func ofInstances(err error) error {
	return limit(err, unix.EMFILE, "max_user_instances", "no program of this user can watch more: end one that watches folders")
}

// ofWatches puts the error of a new watch in words.
func ofWatches(err error) error {
	return limit(err, unix.ENOSPC, "max_user_watches", "no program of this user can watch more folders: end one that watches many")
}

// A limitError says which of the system's limits is reached, and what to do.
type limitError struct {
	text  string
	errno error
}

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return e.errno }

// limit returns an error of the system, in words if it is that of a limit.
func limit(err, reached error, name, text string) error {
	if !errors.Is(err, reached) {
		return err
	}
	value, _ := os.ReadFile("/proc/sys/fs/inotify/" + name)
	return &limitError{fmt.Sprintf("%s, or raise fs.inotify.%s (now %s)", text, name, strings.TrimSpace(string(value))), err}
}
