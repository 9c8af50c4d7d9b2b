package documents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
)

// A busy reviewer has saves in its queue that it has not taken in.
type busy struct {
	root  string
	saved []*Document
}

func (b *busy) Root() string                          { return b.root }
func (b *busy) DocumentChanged(string, bool)          {}
func (b *busy) DocumentSaved(_ string, doc *Document) { b.saved = append(b.saved, doc) }
func (b *busy) DocumentsClosed(api.ClientID)          {}

// TestASaveIsAPersonsUntilItIsTakenIn: a reviewer reads a saved file before it has taken in the save. It must not count the
// text as a running command's.
func TestASaveIsAPersonsUntilItIsTakenIn(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(path, []byte("old\n"), 0o644))
	inner, outer := &busy{root: root}, &busy{root: filepath.Dir(root)}
	ds := New(func() []Reviewer { return []Reviewer{inner, outer} })
	client, uri, text := ds.NewClient(), "file://"+filepath.ToSlash(path), "old\nmine\n"
	require.NoError(t, ds.Open(client, uri, 1, &text))
	typed := func() *Document { return ds.Typed(path, atomicfile.Read(root, "f")) }
	require.Nil(t, typed(), "it is not saved")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	require.NotNil(t, typed())
	require.NoError(t, ds.Save(client, uri, nil))
	require.Len(t, inner.saved, 1)
	for _, r := range []*busy{inner, outer} {
		require.NotNil(t, typed())
		ds.TookIn(r.saved[0])
	}
	require.Nil(t, typed(), "the same text again may be anybody's")
	require.Empty(t, ds.saves)
}

// TestASaveWithAHigherVersion is of a text that the daemon does not know. The text is in the file, and is a person's.
func TestASaveWithAHigherVersion(t *testing.T) {
	t.Parallel()
	typed, none := "old\nmi\n", (*string)(nil)
	for _, c := range []struct {
		name  string
		text  *string // at the last report
		disk  string  // at the save
		newer int
		saved string // what the reviewer hears; "" for nothing
	}{
		{"more was typed", &typed, "old\nmine\n", 1, "old\nmine\n"},
		{"nothing more was typed", &typed, typed, 1, typed},
		{"no text was reported", none, "old\nmine\n", 1, "old\nmine\n"},
		{"no text was reported, nor a new version", none, "old\nmine\n", 0, ""},
		{"nothing was typed", none, "old\n", 1, ""},
		{"the version is old", &typed, typed, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			path := filepath.Join(root, "f")
			require.NoError(t, os.WriteFile(path, []byte("old\n"), 0o644))
			r := &busy{root: root}
			ds := New(func() []Reviewer { return []Reviewer{r} })
			client, uri := ds.NewClient(), "file://"+filepath.ToSlash(path)
			require.NoError(t, ds.Open(client, uri, 1, c.text))
			require.NoError(t, os.WriteFile(path, []byte(c.disk), 0o644))
			version := 1 + c.newer
			require.NoError(t, ds.Save(client, uri, &version))
			require.Equal(t, max(1, version), ds.Opened(client, path).Version)
			if c.saved == "" {
				require.Empty(t, r.saved)
				return
			}
			require.Len(t, r.saved, 1)
			require.Equal(t, c.saved, r.saved[0].Text)
			require.Empty(t, ds.Unsaved(path))
			require.Same(t, r.saved[0], ds.Typed(path, atomicfile.Read(root, "f")))
			ds.TookIn(r.saved[0])
			require.Empty(t, ds.saves)
		})
	}
}
