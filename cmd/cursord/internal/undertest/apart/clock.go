//go:build unix

// Package apart is the part of package undertest that the fake agent has too. It imports nothing of cursord, so that the
// tests' fake agent, which starts thousands of times, is a small program.
package apart

import (
	"fmt"
	"os"
	"time"
)

// Variables of the environment.
const (
	Ahead = "CURSORD_AHEAD"     // a file with the time by which the clock is ahead
	Life  = "CURSORD_TEST_LIFE" // a named pipe: the process ends when nobody holds it open
)

// ClockAhead returns by how much the clock is ahead, at a Unix time in ns. It returns nil if the environment asks for none.
func ClockAhead() func(unix int64) time.Duration {
	if path := os.Getenv(Ahead); path != "" {
		return aheadBy(path)
	}
	return nil
}

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
