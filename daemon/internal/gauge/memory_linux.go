package gauge

import (
	"fmt"
	"os"
)

// Memory returns the memory that the process uses, in bytes, as ps does: with pages of the database that are in
// memory, and without what was given back to the system.
func Memory() uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, resident uint64
	if _, scan := fmt.Sscan(string(b), &size, &resident); err != nil || scan != nil {
		return goMemory()
	}
	return resident * uint64(os.Getpagesize())
}
