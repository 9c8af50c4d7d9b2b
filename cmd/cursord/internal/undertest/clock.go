//go:build unix

package undertest

import (
	"fmt"
	"os"
	"time"
)

// aheadBy returns a function for a clock that is ahead. The file has two numbers: by how many ns, and until which Unix time.
// From then on the clock is right.
func aheadBy(path string) func(unix int64) time.Duration {
	return func(unix int64) time.Duration {
		data, err := os.ReadFile(path)
		var by, until int64
		if _, scanErr := fmt.Sscan(string(data), &by, &until); err != nil || scanErr != nil || unix >= until {
			return 0
		}
		return time.Duration(by)
	}
}
