//go:build unix

package service

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunAll says of each command whether it ran, and goes on after a failure only where that may be.
func TestRunAll(t *testing.T) {
	t.Parallel()
	ok, fails := command{args: []string{"true", "x"}}, []string{"sh", "-c", "echo why; exit 3"}
	tests := []struct {
		name     string
		commands []command
		prints   string
		err      string
	}{
		{"none", nil, "", ""},
		{"a failure ends it", []command{ok, {args: fails}, ok}, "ran true x\n", "sh -c echo why; exit 3: exit status 3: why"},
		{"one that may fail", []command{{args: fails, mayFail: true}, ok}, "sh -c echo why; exit 3: exit status 3: why\nran true x\n", ""},
		{"of which nothing is said", []command{{args: fails, mayFail: true, quiet: true}, ok}, "ran true x\n", ""},
		{"no such program", []command{ok, {args: []string{"no-such-manager", "a"}, mayFail: true}, ok},
			"ran true x\nno-such-manager is not here; where it is, run:\n  no-such-manager a\n  true x\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			err := runAll(t.Context(), NewReport(&out), tt.commands)
			if tt.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tt.err)
			}
			require.Equal(t, tt.prints, out.String())
		})
	}
}

// TestLingers reads the note of systemd-logind.
func TestLingers(t *testing.T) {
	dir := t.TempDir()
	require.False(t, lingers(dir))
	me, err := user.Current()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, me.Username), nil, 0o600))
	require.True(t, lingers(dir))
	var out strings.Builder
	s := &Service{lingers: func() bool { return false }}
	require.NoError(t, s.Install(t.Context(), NewReport(&out), func() error { return nil }))
	require.Contains(t, out.String(), "loginctl enable-linger")
}
