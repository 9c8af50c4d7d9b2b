package callfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/savewatch"
	"cursord/diffs"
)

// TestMissedSaves has a daemon hear of a call after saves that came since the call began: each save counts once, whether the
// watch of the call's files saw it or only the watch of the folders.
func TestMissedSaves(t *testing.T) {
	root := t.TempDir()
	full := func(path string) string { return filepath.Join(root, path) }
	read := func(string) atomicfile.State { return atomicfile.State{} }
	save := func() { require.NoError(t, os.WriteFile(full("f"), []byte("a\n"), 0o644)) }
	for before := range 3 {
		for after := range 3 {
			func() {
				watch := &savewatch.Watch{}
				defer watch.Close()
				folders := savewatch.WatchFolders([]string{root}, func([]string) {})
				defer folders.Close()
				ledger := &attribution.Ledger{}
				files := Files{Ledger: ledger, Watch: watch, Absolute: full, Read: read, Raw: read}
				for range before {
					save()
				}
				ledger.Open([]string{"f"}, diffs.Source{})
				require.True(t, files.Begin("f"))
				defer files.End("f")
				for range after {
					save()
				}
				files.Missed("f", func() int { return folders.Since(full("f"), 0) })
				require.Equal(t, before+after, files.Saves("f"), "%d before and %d after the watch began", before, after)
			}()
		}
	}
	(&Files{}).Missed("f", func() int { t.Fatal("nobody counts"); return 0 })
}
