//go:build !linux && !darwin

package copytree

import (
	"errors"
	"os"
)

// reflink makes the file dst, which must not be there, share its content with src. Where the file system cannot do
// this, dst may be there afterwards, empty.
func reflink(*os.File, string) error { return errors.ErrUnsupported }
