package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// TestRenamedRightAfterALook: the time of a rename may lie a little before the look that came before it. That of a copy tells when it was made.
func TestRenamedRightAfterALook(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("the system does not tell when a file was renamed")
	}
	root := t.TempDir()
	content := diffs.Content{Exists: true, Data: []byte("text\n"), Mode: 0o644}
	clock.Now()
	put := func(name string) string {
		full := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(full, content.Data, 0o644))
		return full
	}
	looked := func(name string, after time.Duration) int64 {
		return clock.Moment(filestat.Of(filepath.Join(root, name)).Ctime) + int64(after)
	}
	old := put("old")
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now().Add(-time.Hour)))
	require.NoError(t, os.Rename(old, filepath.Join(root, "renamed")))
	require.Equal(t, "renamed", Renamed(root, "old", ".", content, looked("renamed", 5*time.Millisecond)))
	require.Empty(t, Renamed(root, "old", ".", content, looked("renamed", time.Second)))
	require.NoError(t, os.Remove(filepath.Join(root, "renamed")))
	put("copy")
	require.Empty(t, Renamed(root, "old", ".", content, looked("copy", 5*time.Millisecond)))
	require.Equal(t, "copy", Renamed(root, "old", ".", content, looked("copy", 0)))
}
