package documents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
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
	require.NoError(t, ds.Open(client, uri, 1, &text, false))
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
			require.NoError(t, ds.Open(client, uri, 1, c.text, false))
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

// TestALoadThatIsReportedLate: an editor loads what the daemon has written, and the daemon writes the next content before it hears of that. The
// text counted as unsaved, and a redo was refused.
func TestALoadThatIsReportedLate(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(root, "f")
	for name, one := range map[string]struct {
		writes  []string // by the daemon; the file holds "was" at first
		reports []string
		unsaved bool
	}{
		"the first of two":          {[]string{"next\n", "was\n"}, []string{"next\n"}, false},
		"with CRLF":                 {[]string{"next\r\n", "was\r\n"}, []string{"next\n"}, false},
		"each of three":             {[]string{"next\n", "was\n", "third\n"}, []string{"next\n", "third\n"}, false},
		"not in their order":        {[]string{"next\n", "second\n", "third\n"}, []string{"second\n", "next\n"}, true},
		"of many the last":          {[]string{"1\n", "2\n", "3\n", "4\n", "5\n", "6\n"}, []string{"5\n"}, false},
		"of many the first":         {[]string{"1\n", "2\n", "3\n", "4\n", "5\n", "6\n"}, []string{"1\n"}, true},
		"what a person types":       {[]string{"next\n", "was\n"}, []string{"typed\n"}, true},
		"typed into what it loaded": {[]string{"next\n", "was\n"}, []string{"next\n", "next\ntyped\n"}, true},
		"what it had before":        {[]string{"next\n"}, []string{"was\n"}, true},
		"a person's, loaded before": {nil, []string{"typed\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
			ds := New(func() []Reviewer { return nil })
			client, uri, text := ds.NewClient(), "file://"+filepath.ToSlash(path), "was\n"
			put(text)
			require.NoError(t, ds.Open(client, uri, 1, &text, false))
			for _, now := range one.writes {
				put(now)
				ds.Wrote(path, diffs.Content{Exists: true, Data: []byte(now)})
			}
			for i, said := range one.reports {
				require.NoError(t, ds.Change(client, uri, i+2, said, false))
			}
			require.Equal(t, one.unsaved, len(ds.Unsaved(path)) > 0)
		})
	}
}

// TestASavedTextBehindTheFile is of clients that say that they have saved or loaded a text which the file does not have any more: it is no
// unsaved text, until a person changes it. That text is then what both have had.
func TestASavedTextBehindTheFile(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(path, []byte("agent's\n"), 0o644))
	ds := New(func() []Reviewer { return nil })
	client, uri, text := ds.NewClient(), "file://"+filepath.ToSlash(path), "old\n"
	require.NoError(t, ds.Open(client, uri, 1, &text, true))
	require.Empty(t, ds.Unsaved(path))
	require.NoError(t, ds.Change(client, uri, 2, "older\n", true))
	require.Empty(t, ds.Unsaved(path))
	require.NoError(t, ds.Change(client, uri, 3, "typed\n", false))
	docs := ds.Unsaved(path)
	require.Len(t, docs, 1)
	require.Equal(t, "older\n", string(docs[0].Known.Data))
}
