package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTooLong(t *testing.T) {
	name := strings.Repeat("n", 255)
	for _, tt := range []struct{ path, why string }{
		{"", ""},
		{"/", ""},
		{"a/b", ""},
		{name, ""},
		{"/x/" + name + "/y", ""},
		{"/x/" + name + "n/y", "a name in the path is 256 characters long; 255 are the most"},
		{name + "n", "a name in the path is 256 characters long; 255 are the most"},
		{strings.Repeat("ä", 255), ""},
		{strings.Repeat("ä", 256), "a name in the path is 256 characters long; 255 are the most"},
		{strings.Repeat("a/", 2048), ""},
		{strings.Repeat("a/", 2048) + "b", "the path is 4097 bytes long; 4096 are the most"},
		{"file:///" + strings.Repeat("%61/", 2047), ""},
		{"file:///" + strings.Repeat("%61/", 2048), "the path is 4097 bytes long; 4096 are the most"},
		{"file:///" + strings.Repeat("%61", 256), "a name in the path is 256 characters long; 255 are the most"},
		{"file:///" + strings.Repeat("%61", 1<<20), "the path is 3145736 bytes long; 4096 are the most"},
	} {
		require.Equal(t, tt.why, TooLong(tt.path))
	}
}

func TestShort(t *testing.T) {
	require.Equal(t, "/a/b", Short("/a/b"))
	require.Equal(t, "/"+strings.Repeat("é", 127)+"…(601 bytes)", Short("/"+strings.Repeat("é", 300)))
}

func TestResolveDirs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "real", "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o644))
	require.NoError(t, os.Symlink("real", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "dangling")))
	require.NoError(t, os.Symlink("loop", filepath.Join(root, "loop")))
	for path, want := range map[string]string{
		"link/a":         "real/a",
		"link":           "link",
		"link/sub/a":     "real/sub/a",
		"link/no/such/a": "real/no/such/a",
		"no/such/link/a": "no/such/link/a",
		"dangling/a/b":   "dangling/a/b",
		"loop/a/b":       "loop/a/b",
		"file/a/b":       "file/a/b",
		"link/../real/a": "real/a",
		"link/" + strings.Repeat("x/", 1500) + "f": "real/" + strings.Repeat("x/", 1500) + "f",
	} {
		require.Equal(t, filepath.Join(root, want), ResolveDirs(filepath.Join(root, path)), path)
	}
}

func TestAbsolute(t *testing.T) {
	for name, want := range map[string]string{"a/b": "/root/a/b", "": "/root", "/etc/x": "/etc/x", "a\\b": "/root/a\\b"} {
		require.Equal(t, filepath.FromSlash(want), Absolute(filepath.FromSlash("/root"), name))
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
		require.Equal(t, want, Canonical(root, root, path), path)
	}
	require.Equal(t, "sub/g", Canonical(root, filepath.Join(root, "sub"), "g"), "relative to the agent's folder")
}

func TestRebase(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"/from", "/to"}, {"/from/a/b", "/to/a/b"}, {"/fromage", "/fromage"}, {"/other/from", "/other/from"}, {"from", "from"}, {"", ""},
	} {
		require.Equal(t, c.want, Rebase(c.path, "/from", "/to"), c.path)
	}
}
