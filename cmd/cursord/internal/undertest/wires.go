//go:build unix

package undertest

import (
	"os"
	"slices"
	"strings"
)

// recordWires adds --trace to this process's arguments if the environment asks for records.
func recordWires() {
	dir := os.Getenv(Wires)
	if dir == "" || len(os.Args) < 2 || !slices.Contains(strings.Fields(os.Getenv(WiresOf)), os.Args[1]) {
		return
	}
	if slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "--trace") }) {
		return // the test traces by itself
	}
	file, err := os.CreateTemp(dir, os.Args[1]+"-")
	if err != nil {
		return // a test about another user's process or a full disk
	}
	file.Close()
	os.Args = append(os.Args, "--trace", file.Name())
}
