package rewind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMovedHead: a commit since a turn began is known, also in a linked work tree, and where the log of HEAD is long.
func TestMovedHead(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	log := a + " " + b + " A B <a@b> 1000 +0100\tcommit: > 5 +0000\n" + b + " " + c + " A B <a@b> 2000 +0100\tmerge x\n"
	put("repo/.git/logs/HEAD", strings.Repeat(a+" "+a+" A <a> 1 +0000\tlong\n", 2000)+log)
	put("repo/d/f", "")
	put("linked/.git", "gitdir: ../repo/.git\n")
	put("back/.git/logs/HEAD", log+c+" "+b+" A B <a@b> 2001 +0100\treset\n")
	put("odd/.git/logs/HEAD", "nonsense\n")
	require.NoError(t, os.Mkdir(filepath.Join(root, "none"), 0o700))
	for _, at := range []struct {
		folder string
		since  int64
		want   string
	}{
		{"repo", 1500, "ccccccc"}, {"repo/d", 2000, "ccccccc"}, {"repo", 2001, ""}, {"repo", 0, "ccccccc"}, {"linked", 1500, "ccccccc"},
		{"back", 1500, ""}, {"odd", 0, ""}, {"none", 0, ""},
	} {
		require.Equal(t, at.want, movedHead(filepath.Join(root, at.folder), time.Unix(at.since, 0)), at)
	}
}

// TestMovedHeadInTheSameSecond: git notes seconds, and a commit right before the turn is none of the turn's.
func TestMovedHeadInTheSameSecond(t *testing.T) {
	root := t.TempDir()
	log := filepath.Join(root, ".git", "logs", "HEAD")
	require.NoError(t, os.MkdirAll(filepath.Dir(log), 0o700))
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	one, two := a+" "+b+" A B <a@b> 1000 +0100\tcommit: one\n", b+" "+c+" A B <a@b> 1000 +0100\tcommit: two\n"
	began := time.Unix(1000, 500e6)
	for _, at := range []struct {
		log     string
		written time.Duration // since the turn began
		want    string
	}{{one, -time.Millisecond, ""}, {one, time.Millisecond, "bbbbbbb"}, {one + two, -time.Millisecond, ""}, {one + two, time.Millisecond, "ccccccc"}} {
		require.NoError(t, os.WriteFile(log, []byte(at.log), 0o600))
		require.NoError(t, os.Chtimes(log, time.Time{}, began.Add(at.written)))
		require.Equal(t, at.want, movedHead(root, began), at)
	}
}
