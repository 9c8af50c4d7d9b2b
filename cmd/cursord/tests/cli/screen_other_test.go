//go:build unix && !linux

package cli

import (
	"fmt"
	"os"
)

// onScreen needs what opens a terminal on this system.
func onScreen() {
	fmt.Fprintln(os.Stderr, "onscreen: not built for this system: open a terminal as screen_linux_test.go does")
	os.Exit(100)
}
