//go:build unix

package undertest

import (
	"fmt"
	"os"
	"time"
)

// aheadBy returns a clock that is ahead as a file says: by the first number of ns until the time that is the second, and right
// from then on.
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
