//go:build unix

package atomicfile

import "io/fs"

// permissions returns what review keeps of a mode.
func permissions(mode fs.FileMode) uint32 { return uint32(mode.Perm()) }
