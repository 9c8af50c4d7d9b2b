//go:build unix && !linux

package world

import "testing"

// Mounted skips the test: only on Linux a small disk can be mounted.
func Mounted(t *testing.T, _, _ string) {
	t.Helper()
	t.Skip("no disk can be mounted here")
}
