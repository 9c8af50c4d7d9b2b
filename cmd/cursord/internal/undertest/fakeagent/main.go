//go:build unix

// Command fakeagent is "cursord fake-agent" as a program of its own, for the tests by processes: it starts in half the time.
package main

import (
	"os"
	"time"

	"cursord/agent/fake"
	"cursord/cmd/cursord/internal/undertest/apart"
)

func main() {
	apart.EndWithTest()
	ahead := apart.ClockAhead()
	os.Exit(fake.Main(os.Args[1:], func() time.Time {
		now := time.Now()
		if ahead != nil {
			now = now.Add(ahead(now.UnixNano()))
		}
		return now
	}))
}
