//go:build unix

package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shortDir returns a private folder with a path short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestFindDirs(t *testing.T) {
	home := shortDir(t)
	private, open := filepath.Join(home, "run"), filepath.Join(home, "open")
	require.NoError(t, os.Mkdir(private, 0o700))
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o755))
	link := filepath.Join(home, "link")
	require.NoError(t, os.Symlink(private, link))
	long := filepath.Join(home, strings.Repeat("x", 100))
	require.NoError(t, os.Mkdir(long, 0o700))
	below := func(d Dirs) string { return filepath.Join(d.State, "run", "d.sock") }

	tests := []struct {
		name string
		env  map[string]string
		want func(t *testing.T, d Dirs)
		err  string
	}{
		{name: "our own variables",
			env: map[string]string{"CURSORD_STATE_DIR": "/a/state/", "CURSORD_CONFIG": "/a/c.toml", "CURSORD_SOCKET": "/a/s.sock", "HOME": ""},
			want: func(t *testing.T, d Dirs) {
				require.Equal(t, Dirs{State: "/a/state", Config: "/a/c.toml", Socket: "/a/s.sock", socketChosen: true}, d)
				require.Equal(t, "/a/state/cursord.db", d.Database())
				require.Equal(t, "/a/state/cursord.log", d.Log())
			}},
		{name: "XDG", env: map[string]string{"XDG_STATE_HOME": "/x/state", "XDG_CONFIG_HOME": "/x/config", "XDG_RUNTIME_DIR": private, "HOME": ""},
			want: func(t *testing.T, d Dirs) {
				require.Equal(t, Dirs{State: "/x/state/cursord", Config: "/x/config/cursord/config.toml", Socket: private + "/cursord/d.sock"}, d)
			}},
		{name: "home alone", want: func(t *testing.T, d Dirs) {
			require.True(t, strings.HasPrefix(d.State, home+"/"), d.State)
			require.True(t, strings.HasPrefix(d.Config, home+"/"), d.Config)
			require.Equal(t, below(d), d.Socket)
		}},
		{name: "relative XDG values are ignored", env: map[string]string{"XDG_STATE_HOME": "x", "XDG_CONFIG_HOME": "y", "XDG_RUNTIME_DIR": "z"},
			want: func(t *testing.T, d Dirs) {
				require.True(t, strings.HasPrefix(d.State, home+"/"), d.State)
				require.True(t, strings.HasPrefix(d.Config, home+"/"), d.Config)
				require.Equal(t, below(d), d.Socket)
			}},
		{name: "runtime directory open to others", env: map[string]string{"XDG_RUNTIME_DIR": open},
			want: func(t *testing.T, d Dirs) { require.Equal(t, below(d), d.Socket) }},
		{name: "runtime directory is a link", env: map[string]string{"XDG_RUNTIME_DIR": link},
			want: func(t *testing.T, d Dirs) { require.Equal(t, below(d), d.Socket) }},
		{name: "runtime directory is absent", env: map[string]string{"XDG_RUNTIME_DIR": home + "/none"},
			want: func(t *testing.T, d Dirs) { require.Equal(t, below(d), d.Socket) }},
		{name: "too long for a socket", env: map[string]string{"XDG_RUNTIME_DIR": long},
			want: func(t *testing.T, d Dirs) {
				require.Regexp(t, `^/tmp/cursord-\d+/[0-9a-f]{16}\.sock$`, d.Socket)
			}},
		{name: "too long below the state folder", env: map[string]string{"CURSORD_STATE_DIR": long},
			want: func(t *testing.T, d Dirs) {
				require.Regexp(t, `^/tmp/cursord-\d+/[0-9a-f]{16}\.sock$`, d.Socket)
			}},

		{name: "no home", env: map[string]string{"HOME": ""}, err: "no home directory: set HOME, XDG_STATE_HOME or CURSORD_STATE_DIR"},
		{name: "no home for the configuration", env: map[string]string{"HOME": "", "CURSORD_STATE_DIR": "/a"}, err: "set HOME, XDG_CONFIG_HOME or CURSORD_CONFIG"},
		{name: "relative home", env: map[string]string{"HOME": "h"}, err: "no home directory"},
		{name: "relative state", env: map[string]string{"CURSORD_STATE_DIR": "a"}, err: `CURSORD_STATE_DIR is "a"; it must be an absolute path`},
		{name: "relative socket", env: map[string]string{"CURSORD_SOCKET": "a"}, err: `CURSORD_SOCKET is "a"; it must be an absolute path`},
		{name: "long socket", env: map[string]string{"CURSORD_SOCKET": "/" + strings.Repeat("x", 120)}, err: "CURSORD_SOCKET is 121 bytes long; the system allows 10"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, name := range []string{"CURSORD_STATE_DIR", "CURSORD_CONFIG", "CURSORD_SOCKET", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
				t.Setenv(name, "")
			}
			t.Setenv("HOME", home)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			d, err := FindDirs()
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			test.want(t, d)
		})
	}
}

// TestFindDaemon looks for a daemon in another environment, and then also one in this environment that has just begun and
// will not get the database.
func TestFindDaemon(t *testing.T) {
	home := shortDir(t)
	own, other := filepath.Join(home, "own"), filepath.Join(home, "other")
	in := func(runtime string) Dirs {
		require.NoError(t, os.MkdirAll(runtime, 0o700))
		for _, name := range []string{"CURSORD_STATE_DIR", "CURSORD_CONFIG", "CURSORD_SOCKET", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
			t.Setenv(name, "")
		}
		t.Setenv("HOME", home)
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		d, err := FindDirs()
		require.NoError(t, err)
		return d
	}
	there := in(other)
	require.NoError(t, there.MakeState())
	serving, err := there.Listen()
	require.NoError(t, err)
	require.NoError(t, there.NoteSocket())
	here := in(own)
	finds := func(want Dirs) {
		t.Helper()
		d, err := FindDaemon()
		require.NoError(t, err)
		require.Equal(t, want.Socket, d.Socket)
	}
	finds(here) // the daemon there does not serve yet
	require.NoError(t, serving.MarkServing())
	finds(there)
	vain, err := here.Listen()
	require.NoError(t, err)
	finds(there)
	t.Setenv("CURSORD_SOCKET", here.Socket)
	finds(here)
	t.Setenv("CURSORD_SOCKET", "")
	require.NoError(t, serving.Release())
	finds(here)
	require.NoError(t, vain.Release())
	finds(here)
}

func TestMakeState(t *testing.T) {
	dir := shortDir(t)
	d := Dirs{State: filepath.Join(dir, "deep", "state")}
	require.NoError(t, d.MakeState())
	info, err := os.Stat(d.State)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(d.State, link))
	require.NoError(t, Dirs{State: link}.MakeState())

	require.NoError(t, os.Chmod(d.State, 0o777))
	require.ErrorContains(t, d.MakeState(), "open to other users (mode 0777)")
}
