package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// TestRestoredSnapshot: a snapshot that was written down finds what has changed since its notes, also if the last frame is cut off.
func TestRestoredSnapshot(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("the file system has no change times")
	}
	for _, cut := range []bool{false, true} {
		dir, state := t.TempDir(), t.TempDir()
		put := func(name, text string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		put("same", "same\n")
		put("changed", "one\n")
		put("d/gone", "gone\n")
		put("noted", "before\n")
		put("recalled", "before\n")
		s, _ := new(List).Take(dir, state, "turn", guardIn(t, dir), false, nil)
		<-s.left
		put("noted", "decided\n")
		s.Note("noted", filestat.Stat{}, atomicfile.Read(dir, "noted"))
		put("recalled", "a person's\n")
		require.Eventually(t, func() bool { // a file that was changed just now may have been written by the call
			return clock.Now()-filestat.Of(filepath.Join(dir, "recalled")).Changed() > int64(soon)
		}, 10*time.Second, 10*time.Millisecond)
		s.Recall("recalled", atomicfile.Read(dir, "recalled"), false)
		names, err := filepath.Glob(filepath.Join(state, "*.turn"))
		require.NoError(t, err)
		require.Len(t, names, 1)
		if cut {
			f, err := os.OpenFile(names[0], os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write([]byte{100, frameGone})
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		put("changed", "two\n")
		require.NoError(t, os.Remove(filepath.Join(dir, "d/gone")))
		put("e/new", "new\n")
		put("recalled", "a person's\nthe agent's\n")

		r, err := ReadRecorded(names[0])
		require.NoError(t, err)
		require.Equal(t, []string{dir, "turn"}, []string{r.Root, r.Turn})
		back, err := r.Restore(context.Background(), guardIn(t, dir))
		require.NoError(t, err)
		all, _ := back.Scan(context.Background(), true, func(ChangeTime) Attribution { return Attribution{} })
		found := map[string][2]string{}
		for _, c := range all {
			require.True(t, c.Known, c.Path)
			found[c.Path] = [2]string{string(c.Before.Data), string(c.After.Data)}
		}
		require.Equal(t, map[string][2]string{
			"changed": {"one\n", "two\n"}, "d/gone": {"gone\n", ""}, "e/new": {"", "new\n"}, "recalled": {"a person's\n", "a person's\nthe agent's\n"},
		}, found)
		require.Equal(t, []string{"e"}, back.MissingDirs("e/new"))
		back.Close()
		s.Close()
		left, err := filepath.Glob(filepath.Join(state, "*.turn"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestTheTableIsWrittenOnce: the records of snapshots that share a table share its file, which goes with the last of them.
func TestTheTableIsWrittenOnce(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("the file system has no change times")
	}
	dir, state := t.TempDir(), t.TempDir()
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a\n"), 0o644))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a"), old, old))
	tables := func() []string {
		names, err := filepath.Glob(filepath.Join(state, "*.table"))
		require.NoError(t, err)
		return names
	}
	var l List
	var all []*Snapshot
	take := func(turn string) {
		s, _ := l.Take(dir, state, turn, guardIn(t, dir), false, nil)
		<-s.left
		all = append(all, s)
	}
	take("1")
	first := tables()
	require.Len(t, first, 1)
	take("2")
	if all[0].files.base == all[1].files.base {
		require.Equal(t, first, tables())
	}
	all[0].Close()
	require.NotEmpty(t, tables())
	l.Close()
	require.Len(t, tables(), 1)
	all[1].Close()
	require.Empty(t, tables())
}
