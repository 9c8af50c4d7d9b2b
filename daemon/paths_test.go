package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/internal/params"
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
		got, err := params.Root(path)
		if want == "" {
			var e *api.Error
			require.ErrorAs(t, err, &e, path)
			require.Equal(t, "workspace", e.Field, path)
			continue
		}
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
}
