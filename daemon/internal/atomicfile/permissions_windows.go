package atomicfile

import "io/fs"

// permissions returns 0, for unknown: Windows has no such bits.
func permissions(fs.FileMode) uint32 { return 0 }
