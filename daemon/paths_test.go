package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolveRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	ws := filepath.Join(dir, "my ws")
	require.NoError(t, os.Mkdir(ws, 0o755))
	require.NoError(t, os.Symlink(ws, filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	for path, want := range map[string]string{
		ws:                           ws,
		ws + "/":                     ws,
		ws + "/../my ws/.":           ws,
		dir + "/link":                ws,
		"file://" + dir + "/my%20ws": ws,
		"file://localhost" + dir:     dir,
		"":                           "",
		"ws":                         "",
		dir + "/file":                "",
		dir + "/none":                "",
		dir + "\x00":                 "",
		"file://elsewhere" + dir:     "",
		"file://%zz":                 "",
	} {
		got, err := resolveRoot(path)
		if want == "" {
			var e *Error
			require.ErrorAs(t, err, &e, path)
			require.Equal(t, "workspace", e.Field, path)
			continue
		}
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
}

func TestCanonical(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root := filepath.Join(dir, "ws")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "sub", "f"), nil, 0o644))
	for link, target := range map[string]string{
		filepath.Join(root, "in"):      "sub",
		filepath.Join(root, "out"):     dir,
		filepath.Join(root, "tof"):     "sub/f",
		filepath.Join(root, "dangles"): "nowhere",
		filepath.Join(dir, "alias"):    root,
	} {
		require.NoError(t, os.Symlink(target, link))
	}
	for path, want := range map[string]string{
		"a/b":                            "a/b",
		"./a//b":                         "a/b",
		root + "/a":                      "a",
		dir + "/alias/a":                 "a",
		"in/f":                           "sub/f",
		"in/new/g":                       "sub/new/g",
		"tof":                            "sub/f",
		"dangles":                        "dangles",
		"out/x":                          dir + "/x",
		"../x":                           dir + "/x",
		"sub/../../x":                    dir + "/x",
		"/etc/hostname-that-is-not-here": "/etc/hostname-that-is-not-here",
		`a\b`:                            "a/b",
		"":                               "",
	} {
		require.Equal(t, want, canonical(root, root, path), path)
	}
	require.Equal(t, "sub/g", canonical(root, filepath.Join(root, "sub"), "g"), "relative to the agent's folder")
}
