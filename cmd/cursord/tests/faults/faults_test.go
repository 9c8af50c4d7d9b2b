//go:build unix

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

func faultPlan(w *world.World) string { return filepath.Join(w.Dir, "fault") }

// plans makes these next steps of the daemon fail, and clears the list of reached steps.
func plans(w *world.World, format string, args ...any) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(faultPlan(w), fmt.Appendf(nil, format, args...), 0o600))
	require.NoError(w.T, os.RemoveAll(faultPlan(w)+".log"))
}

// reached lists the daemon's steps since the last plan.
func reached(w *world.World) []string {
	w.T.Helper()
	b, err := os.ReadFile(faultPlan(w) + ".log")
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.T, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
