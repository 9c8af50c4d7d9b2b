package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

func (w *World) faultPlan() string { return filepath.Join(w.Dir, "fault") }

// plans has the next steps of a daemon that was started with faults fail, and forgets what was reached.
func (w *World) plans(format string, args ...any) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(w.faultPlan(), fmt.Appendf(nil, format, args...), 0o600))
	require.NoError(w.T, os.RemoveAll(w.faultPlan()+".log"))
}

// reached lists the steps since the last plan.
func (w *World) reached() []string {
	w.T.Helper()
	b, err := os.ReadFile(w.faultPlan() + ".log")
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.T, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
