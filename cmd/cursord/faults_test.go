package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

func (w *world) faultPlan() string { return filepath.Join(w.dir, "fault") }

// plans has the next steps of a daemon that was started with faults fail, and forgets what was reached.
func (w *world) plans(format string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.faultPlan(), fmt.Appendf(nil, format, args...), 0o600))
	require.NoError(w.t, os.RemoveAll(w.faultPlan()+".log"))
}

// reached lists the steps since the last plan.
func (w *world) reached() []string {
	w.t.Helper()
	b, err := os.ReadFile(w.faultPlan() + ".log")
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
