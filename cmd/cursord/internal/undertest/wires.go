//go:build unix

package undertest

import (
	"os"
	"slices"
	"strings"
)

// recordWires has this process record its messages, if it is told to.
func recordWires() {
	dir := os.Getenv(Wires)
	if dir == "" || len(os.Args) < 2 || !slices.Contains(strings.Fields(os.Getenv(WiresOf)), os.Args[1]) {
		return
	}
	if slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "--trace") }) {
		return // the test wants that itself
	}
	file, err := os.CreateTemp(dir, os.Args[1]+"-")
	if err != nil {
		return // another user's process, or a full disk, are what the test is about
	}
	file.Close()
	os.Args = append(os.Args, "--trace", file.Name())
}
