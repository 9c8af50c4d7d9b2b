//go:build !linux

package daemon

// residentMemory returns the memory that the process uses, in bytes, as far as the system says.
func residentMemory() uint64 { return goMemory() }
