//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

func exchangeNames(_ *os.File, _, _ string) error                { return errors.ErrUnsupported }
func renameNew(_ *os.File, _ string, _ *os.File, _ string) error { return errors.ErrUnsupported }
func leaseAlone(*os.File) error                                  { return errors.ErrUnsupported }
func leaseReading(*os.File) error                                { return errors.ErrUnsupported }
func awaited(*os.File) bool                                      { return false }
