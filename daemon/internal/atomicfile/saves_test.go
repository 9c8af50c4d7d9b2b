//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestHardLinks changes a file with several names: it is written in place only if these names were there at a turn's start.
func TestHardLinks(t *testing.T) {
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	tests := []struct {
		name  string
		begin []string // other names of f at the turn's start
		later []string // other names that are made later
		renew bool     // f is then another file with the same names
		blind bool     // the names at the turn's start are not known
		same  bool     // f is written in place
	}{
		{name: "of a person", begin: []string{"g"}, same: true},
		{name: "one of an agent", later: []string{"g"}},
		{name: "one more by an agent", begin: []string{"g"}, later: []string{"h"}},
		{name: "another file since", begin: []string{"g"}, renew: true},
		{name: "nobody has looked", begin: []string{"g"}, blind: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			put(t, dir, "f", before)
			for _, name := range tt.begin {
				require.NoError(t, os.Link(at("f"), at(name)))
			}
			info, err := os.Lstat(at("f"))
			require.NoError(t, err)
			c := changing(before, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644})
			if !tt.blind {
				c.Links = linksOf(info)
			}
			for _, name := range tt.later {
				require.NoError(t, os.Link(at("f"), at(name)))
			}
			if tt.renew {
				put(t, dir, "new", before) // made while the old file is there, so that its inode differs
				for _, name := range append(tt.begin, "f") {
					require.NoError(t, os.Remove(at(name)))
					require.NoError(t, os.Link(at("new"), at(name)))
				}
				require.NoError(t, os.Remove(at("new")))
			}
			require.NoError(t, in(t, dir).Carry(c))
			require.Equal(t, "b\n", string(Read(dir, "f").Data))
			for _, name := range append(tt.begin, tt.later...) {
				want := "a\n"
				if tt.same {
					want = "b\n"
				}
				require.Equal(t, want, string(Read(dir, name).Data), name)
			}
		})
	}
}

// TestASaveBesideAWriteInPlace: an editor replaces a file that is being written in place. The editor's file stays, and the
// other names of the old file keep the old content.
func TestASaveBesideAWriteInPlace(t *testing.T) {
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	dir := t.TempDir()
	put(t, dir, "f", before)
	require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
	info, err := os.Lstat(filepath.Join(dir, "f"))
	require.NoError(t, err)
	c := changing(before, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644})
	c.Links = linksOf(info)
	w, saved := in(t, dir), false
	w.fault = func(s Step) error {
		if s.Name == "write" && !saved {
			saved = true
			put(t, dir, "mine", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
			require.NoError(t, os.Rename(filepath.Join(dir, "mine"), filepath.Join(dir, "f")))
		}
		return nil
	}
	require.ErrorIs(t, w.Carry(c), ErrChanged)
	require.True(t, saved)
	require.Equal(t, "mine\n", string(Read(dir, "f").Data))
	require.Equal(t, "a\n", string(Read(dir, "g").Data))
}

// TestAWriteInPlaceLooksAgain: the file is saved just before it would be written in place.
func TestAWriteInPlaceLooksAgain(t *testing.T) {
	mine := diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644}
	dir := t.TempDir()
	put(t, dir, "f", mine)
	require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
	info, err := os.Lstat(filepath.Join(dir, "f"))
	require.NoError(t, err)
	c := changing(diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644})
	c.Links = linksOf(info)
	require.ErrorIs(t, in(t, dir).rewrite(c, info), ErrChanged)
	require.Equal(t, "mine\n", string(Read(dir, "f").Data))
}

// TestAFileThatStaysOpenIsNotReplaced: a program has the file open for writing, and its later writes are in the file.
func TestAFileThatStaysOpenIsNotReplaced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has a file open")
	}
	dir := t.TempDir()
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	put(t, dir, "f", before)
	f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	require.ErrorIs(t, in(t, dir).Carry(changing(before, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644})), ErrChanged)
	require.ErrorIs(t, in(t, dir).Carry(changing(before, diffs.Content{})), ErrChanged)
	_, err = f.WriteString("mine\n")
	require.NoError(t, err)
	require.Equal(t, "a\nmine\n", string(Read(dir, "f").Data))
}

// TestBitsThatAreNotForReviewStay: a change of the mode keeps the setuid bit.
func TestBitsThatAreNotForReviewStay(t *testing.T) {
	dir := t.TempDir()
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o755}
	put(t, dir, "f", before)
	require.NoError(t, os.Chmod(filepath.Join(dir, "f"), 0o755|fs.ModeSetuid))
	require.NoError(t, in(t, dir).Carry(changing(before, diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o700})))
	info, err := os.Stat(filepath.Join(dir, "f"))
	require.NoError(t, err)
	require.Equal(t, 0o700|fs.ModeSetuid, info.Mode())
}

// TestTheLatestOfSeveralSavesStays: a person saves while the file is replaced, and again while that save is put back.
func TestTheLatestOfSeveralSavesStays(t *testing.T) {
	dir := t.TempDir()
	before := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	put(t, dir, "f", before)
	w, saves := in(t, dir), 0
	w.fault = func(s Step) error {
		if s.Name == "exchange" && saves < 2 {
			saves++
			put(t, dir, "mine", diffs.Content{Exists: true, Data: []byte{'0' + byte(saves), '\n'}, Mode: 0o644})
			require.NoError(t, os.Rename(filepath.Join(dir, "mine"), filepath.Join(dir, "f")))
		}
		return nil
	}
	require.ErrorIs(t, w.Carry(changing(before, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644})), ErrChanged)
	if saves < 2 {
		t.Skip("this system exchanges no names")
	}
	require.Equal(t, "2\n", string(Read(dir, "f").Data))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
