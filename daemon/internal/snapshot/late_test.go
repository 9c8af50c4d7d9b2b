//go:build unix

package snapshot

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// takeLate makes a folder of files, and has calls begin before its snapshot is taken. does is what they do until then. If dirty is not "", that file
// differs from the repository's.
func takeLate(t *testing.T, repo bool, dirty string, does func(s *Snapshot), files ...string) *Snapshot {
	t.Helper()
	was := takeSnapshot(t, repo, files...)
	if dirty != "" {
		require.NoError(t, os.WriteFile(was.Full(dirty), []byte(dirty+", mine"), 0o644))
	}
	for _, name := range append(files, ".git/config", ".git/index") {
		rests(t, was.Full(name))
	}
	s := Empty(was.root)
	s.guard, s.spool, s.nested = was.guard, newSpool(t.TempDir()), map[string]bool{}
	t.Cleanup(s.Close)
	s.AgentBegins()
	s.CallBegins(clock.Now())
	does(s)
	s.take(t.Context())
	require.Empty(t, s.Useless())
	return s
}

// rests waits until a change of a file differs from its state.
func rests(t *testing.T, full string) {
	t.Helper()
	require.Eventually(t, func() bool { return !filestat.Of(full).Racy(clock.Now()) }, 30*time.Second, time.Millisecond)
}

// perceived is what a scan finds, by path: whether the former content is known, that, and by whom the file was changed.
func perceived(t *testing.T, s *Snapshot) map[string]string {
	t.Helper()
	all, left := s.Scan(t.Context(), true, byShell)
	require.Empty(t, left.String())
	by := map[string]string{}
	for _, c := range all {
		before := "?"
		if c.Known {
			before = string(c.Before.Data)
		}
		by[c.Path] = before + " " + string(c.Source.Via)
	}
	return by
}

// TestSnapshotThatIsLate: calls begin before files were looked at. Those that were not changed since are known; of the others nobody knows what
// they held, and a scan finds them.
func TestSnapshotThatIsLate(t *testing.T) {
	for _, c := range []struct {
		name string
		repo bool
		git  []string // what the calls ask of git
		want map[string]string
	}{
		{"git", true, nil, map[string]string{"a/early": "a/early unknown", "a/gone": "a/gone unknown", "a/mode": "a/mode unknown", "a/new": "? unknown"}},
		{"git's index is the agent's", true, []string{"add", "-A"}, map[string]string{"a/early": "? unknown", "a/mode": "? unknown", "a/new": "? unknown"}},
		{"folders", false, nil, map[string]string{"a/early": "? unknown", "a/mode": "? unknown", "a/new": "? unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := takeLate(t, c.repo, "dirty", func(s *Snapshot) {
				require.NoError(t, os.WriteFile(s.Full("a/early"), []byte("agent's"), 0o644)) // as long as before
				require.NoError(t, os.WriteFile(s.Full("a/new"), []byte("agent"), 0o644))
				require.NoError(t, os.Chmod(s.Full("a/mode"), 0o755))
				require.NoError(t, os.Remove(s.Full("a/gone")))
				if c.git != nil {
					cmd := exec.Command("git", c.git...)
					cmd.Dir = s.root
					require.NoError(t, cmd.Run())
				}
			}, "a/early", "a/gone", "a/mode", "b/later", "dirty")
			require.Contains(t, s.Lacks(), "began before")
			for name, want := range map[string]string{"b/later": "b/later", "dirty": "dirty, mine"} {
				is, known := s.At(name)
				require.True(t, known, name)
				require.Equal(t, want, string(is.Data))
			}
			_, known := s.At("a/early")
			require.False(t, known, "it is only a guess")
			_, known = s.At("b/none")
			require.True(t, known, "it was certainly not there")

			require.NoError(t, os.WriteFile(s.Full("b/later"), []byte("agent"), 0o644))
			require.NoError(t, os.WriteFile(s.Full("dirty"), []byte("agent"), 0o644))
			want := map[string]string{"b/later": "b/later shell", "dirty": "dirty, mine shell"}
			for name, is := range c.want {
				want[name] = is
			}
			require.Equal(t, want, perceived(t, s))
			require.Equal(t, want, perceived(t, s), "nothing was taken in")
			s.Note("a/early", filestat.Of(s.Full("a/early")), atomicfile.Read(s.root, "a/early"))
			require.NotContains(t, perceived(t, s), "a/early")
		})
	}
}

// TestALateSnapshotOfNothingNew: nothing was changed since the calls began, or only before them, and nothing is found.
func TestALateSnapshotOfNothingNew(t *testing.T) {
	for _, repo := range []bool{true, false} {
		s := takeLate(t, repo, "dirty", func(*Snapshot) {}, "a/same", "dirty")
		require.Empty(t, s.Lacks())
		require.Empty(t, perceived(t, s))
	}
}

// TestALateFileIsJudgedByItsTime: a scan tells its caller that calls may have changed a file whose latest change is a person's, and leaves the file
// to a later scan if it is told to.
func TestALateFileIsJudgedByItsTime(t *testing.T) {
	s := takeLate(t, true, "", func(s *Snapshot) { require.NoError(t, os.WriteFile(s.Full("a"), []byte("agent"), 0o644)) }, "a", "b")
	require.NoError(t, os.WriteFile(s.Full("b"), []byte("mine"), 0o644))
	doubt := map[string]bool{}
	all, _ := s.Scan(t.Context(), true, func(c ChangeTime) Attribution {
		doubt[c.Path] = c.Doubt
		return Attribution{Leave: true}
	})
	require.Empty(t, all)
	require.Equal(t, map[string]bool{"a": true, "b": false}, doubt)
	all, _ = s.Scan(t.Context(), true, func(ChangeTime) Attribution { return Attribution{} })
	require.Len(t, all, 2)
	require.Nil(t, all[0].Source)
	s.Note("a", filestat.Stat{}, atomicfile.Read(s.root, "a"))
	require.Equal(t, map[string]string{"b": "b " + string(diffs.ViaShell)}, perceived(t, s))
}

// TestACallWhileContentsAreRead: a call changes a file that was looked at, and whose content was not read yet. The others are read all the same.
func TestACallWhileContentsAreRead(t *testing.T) {
	taken := takeSnapshot(t, false, "a", "b")
	list, why := taken.list(t.Context())
	require.Empty(t, why)
	list.contents, list.stats = nil, nil
	stats, all := taken.lstats(t.Context(), len(list.files), func(i int) string { return list.files[i].Path })
	require.True(t, all)
	s := Empty(taken.root)
	s.first = newSpool(t.TempDir())
	t.Cleanup(s.Close)
	s.AgentBegins()
	unread := s.keep(list, stats, sight{})
	require.Len(t, unread, 2)
	rests(t, s.Full("b"))
	s.CallBegins(clock.Now())
	require.NoError(t, os.WriteFile(s.Full("a"), []byte("agent"), 0o644))
	s.readContents(t.Context(), unread)
	require.Equal(t, "the content of 1 of its files could not be read in time", s.Lacks())
	_, known := s.At("a")
	require.False(t, known)
	is, known := s.At("b")
	require.True(t, known)
	require.Equal(t, "b", string(is.Data))
}

// TestAnIndexThatTheAgentMade: git's index is written after calls have begun, and says of an unchanged file that it holds something else.
func TestAnIndexThatTheAgentMade(t *testing.T) {
	for written, want := range map[bool]string{true: "later", false: "early"} {
		s := takeLate(t, true, "", func(s *Snapshot) {
			index, err := os.ReadFile(s.Full(".git/index"))
			require.NoError(t, err)
			early, later := blob("early"), blob("later")
			require.Equal(t, 1, bytes.Count(index, later))
			index = bytes.Replace(index, later, early, 1)
			sum := sha1.Sum(index[:len(index)-sha1.Size])
			if copy(index[len(index)-sha1.Size:], sum[:]); written {
				require.NoError(t, os.WriteFile(s.Full(".git/index"), index, 0o644))
				return
			}
			s.called = 0
			require.NoError(t, os.WriteFile(s.Full(".git/index"), index, 0o644))
			rests(t, s.Full(".git/index"))
			s.CallBegins(clock.Now())
		}, "early", "later")
		is, known := s.At("later")
		require.True(t, known)
		require.Equal(t, want, string(is.Data))
	}
}

func blob(text string) []byte {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	return sum[:]
}

// TestALateFileIsWrittenDown: the next process knows that a file's former content is only a guess.
func TestALateFileIsWrittenDown(t *testing.T) {
	for _, e := range []entry{{racy: true, doubtful: true}, {doubtful: true}, {racy: true}, {}} {
		f := fields{bytes.NewReader(fileFrame("a", &e)[1:])}
		require.Equal(t, "a", f.text())
		got := Empty(t.TempDir()).restored(f, t.TempDir())
		require.Equal(t, []bool{e.racy, e.doubtful}, []bool{got.racy, got.doubtful})
	}
}

// TestACallHeardLate: the daemon hears of a call only after it has looked at a file that the call has changed.
func TestACallHeardLate(t *testing.T) {
	s := Empty(takeSnapshot(t, false, "a", "b").root)
	s.nested, s.spool = map[string]bool{}, newSpool(t.TempDir())
	t.Cleanup(s.Close)
	s.AgentBegins()
	rests(t, s.Full("b"))
	since := clock.Now()
	require.NoError(t, os.WriteFile(s.Full("a"), []byte("agent"), 0o644))
	s.take(t.Context())
	s.CallBegins(since)
	_, known := s.At("a")
	require.False(t, known)
	_, known = s.At("b")
	require.True(t, known)
	require.Equal(t, map[string]string{"a": "? unknown"}, perceived(t, s))
}
