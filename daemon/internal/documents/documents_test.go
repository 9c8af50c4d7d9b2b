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
