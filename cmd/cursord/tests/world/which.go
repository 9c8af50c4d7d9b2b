//go:build unix

package world

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// Program writes an executable below the world's folder and returns its path.
func (w *World) Program(name, script string) string {
	w.T.Helper()
	path := filepath.Join(w.Dir, name)
	require.NoError(w.T, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.T, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return path
}

// Fake returns a script that runs the fake agent.
func (w *World) Fake() string { return "exec " + filepath.Join(w.Dir, "agent") + ` "$@"` }
