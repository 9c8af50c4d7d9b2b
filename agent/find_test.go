//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := Find("")
	require.ErrorIs(t, err, ErrNotInstalled)
	_, err = Find("other")
	require.EqualError(t, err, "cursor-agent is not installed: there is no other on PATH")
	_, err = Find("/no/where")
	require.EqualError(t, err, "cursor-agent is not installed: /no/where is not there or cannot be executed")

	for _, name := range []string{"agent", "cursor-agent", "other"} { // the later is preferred to the earlier
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700))
		want := filepath.Join(dir, name)
		configured := ""
		if name == "other" {
			configured = name
		}
		got, err := Find(configured)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := Find(filepath.Join(dir, "agent"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "agent"), got)
}

func TestAsk(t *testing.T) {
	t.Setenv("CURSOR_API_KEY", "")
	f := newFake(t, `case $1 in
--version) echo 2026.10.01-abc1234 ;;
status) echo '✓ Logged in as ann@example.org' ;;
models) echo 'auto - Auto (default)'; (sleep 100 &) ;;
esac
`)
	version, err := Version(t.Context(), f.req.Bin)
	require.NoError(t, err)
	require.Equal(t, "2026.10.01-abc1234", version)
	account, err := Status(t.Context(), f.req.Bin)
	require.NoError(t, err)
	require.Equal(t, "ann@example.org", account.Name)
	models, err := Models(t.Context(), f.req.Bin)
	require.NoError(t, err)
	require.Equal(t, []Model{{ID: "auto", Name: "Auto"}}, models)

	f = newFake(t, `case $1 in
status) echo 'Not logged in' ;;
*) echo 'Error: Authentication required.' >&2; exit 1 ;;
esac
`)
	account, err = Status(t.Context(), f.req.Bin)
	require.NoError(t, err)
	require.False(t, account.LoggedIn)
	var failed *RunError
	_, err = Models(t.Context(), f.req.Bin)
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "agentNotLoggedIn", failed.Kind)
	t.Setenv("CURSOR_API_KEY", "k")
	account, err = Status(t.Context(), f.req.Bin)
	require.NoError(t, err)
	require.True(t, account.APIKey)

	_, err = Version(t.Context(), filepath.Join(f.dir, "nothing"))
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "agentNotInstalled", failed.Kind)
}
