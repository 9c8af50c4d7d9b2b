package gauge

import "runtime"

// goMemory returns the memory that Go's runtime has from the system and has not given back, in bytes.
func goMemory() uint64 {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.Sys - mem.HeapReleased
}
