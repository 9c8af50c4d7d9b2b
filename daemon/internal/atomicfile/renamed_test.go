package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// TestRenamedIsTheVeryFile: a copy of a file, another one with its content that was renamed, and one that has got its number are not the file.
func TestRenamedIsTheVeryFile(t *testing.T) {
	content := diffs.Content{Exists: true, Data: []byte("text\n"), Mode: 0o644}
	root := ""
	path := func(name string) string { return filepath.Join(root, name) }
	put := func(name string) { require.NoError(t, os.WriteFile(path(name), content.Data, 0o644)) }
	rename := func(from, to string) { require.NoError(t, os.Rename(path(from), path(to))) }
	for name, c := range map[string]struct {
		does func()
		want string
	}{
		"renamed":           {func() { rename("f", "to") }, "to"},
		"copied":            {func() { put("copy"); require.NoError(t, os.Remove(path("f"))) }, ""},
		"another renamed":   {func() { rename("other", "to"); require.NoError(t, os.Remove(path("f"))) }, ""},
		"copied and moved":  {func() { put("copy"); rename("f", "to") }, "to"},
		"changed":           {func() { rename("f", "to"); require.NoError(t, os.WriteFile(path("to"), []byte("tex2\n"), 0o644)) }, ""},
		"with another name": {func() { require.NoError(t, os.Link(path("f"), path("link"))); rename("f", "to") }, ""},
		"another with its number": {func() {
			rename("f", "to")
			require.NoError(t, os.Chtimes(path("to"), time.Time{}, time.Now().Add(time.Hour)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root = t.TempDir()
			put("f")
			put("other")
			is := filestat.Of(path("f"))
			if is.Ino == 0 {
				t.Skip("the system does not tell files from each other")
			}
			c.does()
			require.Equal(t, c.want, Renamed(root, "f", ".", content, is))
		})
	}
}
