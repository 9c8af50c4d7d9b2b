//go:build !linux

package gauge

// Memory returns the memory that the process uses, in bytes, as far as the system says.
func Memory() uint64 { return goMemory() }
