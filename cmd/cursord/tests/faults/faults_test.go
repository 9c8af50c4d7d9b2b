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

// plans has the next steps of a daemon that was started with faults fail, and forgets what was reached.
func plans(w *world.World, format string, args ...any) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(faultPlan(w), fmt.Appendf(nil, format, args...), 0o600))
	require.NoError(w.T, os.RemoveAll(faultPlan(w)+".log"))
}

// reached lists the steps since the last plan.
func reached(w *world.World) []string {
	w.T.Helper()
	b, err := os.ReadFile(faultPlan(w) + ".log")
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.T, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
