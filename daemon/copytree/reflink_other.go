//go:build !linux && !darwin

package copytree

import (
	"errors"
	"os"
)

// reflink creates the file dst, which must not exist, with the blocks of src. If the file system cannot share blocks, it may
// leave dst behind, empty.
func reflink(*os.File, string) error { return errors.ErrUnsupported }
