package snapshot

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// seen is a state of a file that was changed at a moment.
func seen(moment int64) filestat.Stat {
	return filestat.Stat{Size: 1, Mode: 0o644, Ctime: clock.Shown(moment)}
}

// TestEarlierChanges: a file is seen in several states before its change is found and taken in.
func TestEarlierChanges(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("this system gives no times of changes of files")
	}
	s := takeSnapshot(t, false, "f", "in/g")
	require.Equal(t, []string{s.root, s.Full("in")}, s.Folders())
	require.Equal(t, "in/g", s.Name(s.Full("in/g")))
	then := filestat.Of(s.Full("f")).Changed()
	s.Saw("f", seen(then), then+5) // the same state again
	s.Saw("f", filestat.Stat{}, then+5)
	require.Empty(t, s.EarlierOf("f", 0, 0, then+100))
	for _, ms := range []int64{10, 10, 20, 30} {
		s.Saw("f", seen(then+ms*1e6), then+ms*1e6+1)
	}
	require.Equal(t, []Earlier{{then + 10e6, then + 10e6 + 1}, {then + 20e6, then + 20e6 + 1}}, s.EarlierOf("f", 0, 0, then+30e6))
	require.Equal(t, []Earlier{{then + 20e6, then + 20e6 + 1}}, s.EarlierOf("f", then+10e6+1, 0, then+30e6))
	require.Len(t, s.EarlierOf("f", then+10e6, 0, then+30e6), 2, "noticed after the look, though a file's time lags")
	require.Empty(t, s.EarlierOf("in/g", 0, 0, then+30e6))
	require.Equal(t, []Earlier{{When: s.began + 5e6}}, s.EarlierOf("in/g", 0, s.began+5e6, s.began+30e6), "only the time of its text is left")
	require.Empty(t, s.EarlierOf("in/g", 0, s.began-1, s.began+30e6), "a text of before the turn")
	require.Empty(t, s.EarlierOf("in/g", s.began+6e6, s.began+5e6, s.began+30e6), "a text that was looked at")

	s.Note("f", filestat.Of(s.Full("f")), atomicfile.Read(s.root, "f"))
	require.Empty(t, s.EarlierOf("f", 0, 0, then+30e6), "taken in")

	now := clock.Now()
	img, disk := atomicfile.Read(s.root, "f"), atomicfile.Read(s.root, "f")
	disk.Data = []byte("more")
	s.Saved("f", img, disk)
	s.Saw("f", seen(now), now)
	require.Empty(t, s.EarlierOf("f", 0, 0, now+100e6), "an editor has said what it was")

	for i := range int64(100) {
		s.Saw("new", seen(now+i*1e6), now)
	}
	require.Len(t, s.EarlierOf("new", 0, 0, now+1000e6), seenTimes)
	for i := range seenFiles + 10 {
		s.Saw(fmt.Sprint("many", i), seen(now), now)
	}
	require.LessOrEqual(t, len(s.seen), seenFiles)
}

// TestAChangeIsOverwrittenBeforeItIsRead: a command writes a file after a person's save, between the look at it and the
// read. Before, the text counted as the person's, and the command's change was not listed at all.
func TestAChangeIsOverwrittenBeforeItIsRead(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("this system gives no times of changes of files")
	}
	for _, leave := range []bool{false, true} {
		s := takeSnapshot(t, false, "f")
		require.NoError(t, os.WriteFile(s.Full("f"), []byte("a person's"), 0o644))
		saved := filestat.Of(s.Full("f")).Changed()
		var asked []ChangeTime
		judge := func(c ChangeTime) Attribution {
			if asked = append(asked, c); len(asked) > 1 {
				by := byShell(c)
				by.Leave = leave && len(asked) == 2
				return by
			}
			for filestat.Of(s.Full("f")).Changed() == saved { // until the file's time differs
				require.NoError(t, os.WriteFile(s.Full("f"), []byte("the command's, over it"), 0o644))
			}
			return Attribution{}
		}
		found, _ := s.Scan(t.Context(), true, judge)
		require.Len(t, asked, 2)
		require.Empty(t, asked[0].Earlier)
		if leave {
			require.Empty(t, found)
			found, _ = s.Scan(t.Context(), true, judge)
		}
		last := asked[len(asked)-1]
		require.Len(t, last.Earlier, 1)
		require.Equal(t, saved, last.Earlier[0].When)
		require.Len(t, found, 1)
		require.Equal(t, "shell", string(found[0].Source.Via))
		require.Equal(t, "the command's, over it", string(found[0].After.Data))
	}
}

// TestACommandsFileIsEmptyWhenItIsRead: a call empties a file, in order to write it, between the look at it and the read. Before, a person
// seemed to be saving it, so that the call's change could be a person's.
func TestACommandsFileIsEmptyWhenItIsRead(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("this system gives no times of changes of files")
	}
	for _, saved := range []bool{false, true} {
		s := takeSnapshot(t, false, "f") // just now, so it is looked at again
		if saved {
			require.NoError(t, os.WriteFile(s.Full("f"), []byte("a person's"), 0o644))
		}
		was := filestat.Of(s.Full("f")).Changed()
		var asked []ChangeTime
		found, _ := s.Scan(t.Context(), false, func(c ChangeTime) Attribution {
			for len(asked) == 0 && filestat.Of(s.Full("f")).Changed() == was { // until the file's time differs
				require.NoError(t, os.WriteFile(s.Full("f"), nil, 0o644))
			}
			asked = append(asked, c)
			return Attribution{Leave: len(asked) == 2}
		})
		require.Len(t, asked, 2)
		require.Empty(t, found)
		require.NoError(t, os.WriteFile(s.Full("f"), []byte("the command's"), 0o644))
		found, _ = s.Scan(t.Context(), true, func(c ChangeTime) Attribution {
			asked = append(asked, c)
			return byShell(c)
		})
		require.Len(t, found, 1)
		require.Equal(t, "shell", string(found[0].Source.Via))
		if saved {
			require.Len(t, asked[2].Earlier, 1)
			require.Equal(t, was, asked[2].Earlier[0].When)
		}
	}
}

// TestACommandsChangeIsOverwrittenBeforeItIsRead: a file is written again right after a command's write, between the look
// and the read. Before, both changes were taken in as perhaps a person's, before the second one's author was known.
func TestACommandsChangeIsOverwrittenBeforeItIsRead(t *testing.T) {
	if !filestat.ChangeTimes {
		t.Skip("this system gives no times of changes of files")
	}
	s := takeSnapshot(t, false, "f")
	require.NoError(t, os.WriteFile(s.Full("f"), []byte("the command's"), 0o644))
	first := filestat.Of(s.Full("f")).Changed()
	var asked []ChangeTime
	judge := func(c ChangeTime) Attribution {
		asked = append(asked, c)
		by := byShell(c)
		by.Leave = len(asked) == 2
		for len(asked) == 1 && filestat.Of(s.Full("f")).Changed() == first { // until the file's time differs
			require.NoError(t, os.WriteFile(s.Full("f"), []byte("the next call's, over it"), 0o644))
		}
		return by
	}
	found, _ := s.Scan(t.Context(), true, judge)
	require.Len(t, asked, 2)
	require.Empty(t, found)
	found, _ = s.Scan(t.Context(), true, judge)
	require.Len(t, asked, 3)
	require.Len(t, asked[2].Earlier, 1)
	require.Equal(t, first, asked[2].Earlier[0].When)
	require.Len(t, found, 1)
	require.Equal(t, "shell", string(found[0].Source.Via))
	require.Equal(t, "the next call's, over it", string(found[0].After.Data))
}
