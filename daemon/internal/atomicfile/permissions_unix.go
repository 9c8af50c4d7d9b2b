//go:build unix

package atomicfile

import "io/fs"

// permissions returns the bits of a mode that review keeps.
func permissions(mode fs.FileMode) uint32 { return uint32(mode.Perm()) }
