package snapshot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

func byShell(ChangeTime) Attribution { return Attribution{Source: &diffs.Source{Via: "shell"}} }

// takeSnapshot makes a folder of files, which is a repository or not, and takes a snapshot of it.
func takeSnapshot(t *testing.T, repo bool, files ...string) *Snapshot {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	if repo {
		commitAll(t, dir)
	}
	s, _ := new(List).Take(dir, t.TempDir(), "", guardIn(t, dir), false, nil)
	t.Cleanup(s.Close)
	<-s.ready
	require.Empty(t, s.Useless())
	return s
}

// TestScanThatIsCut: scans without enough time say so, and the next scan finds the changes.
func TestScanThatIsCut(t *testing.T) {
	for _, repo := range []bool{true, false} {
		s := takeSnapshot(t, repo, "a", "b")
		require.NoError(t, os.WriteFile(s.Full("a"), []byte("new"), 0o644))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		found, left := s.Scan(ctx, true, byShell)
		require.Empty(t, found)
		require.Equal(t, "Some changes by commands may be missing from the review, because looking for them took longer than 20s "+
			"(the workspace is large, or the machine busy): look at the workspace yourself, for example with git status", left.String())
		found, left = s.Scan(t.Context(), true, byShell)
		require.Empty(t, left.String())
		require.Len(t, found, 1)
		require.Equal(t, "a", found[0].Path)
		require.Equal(t, "a", string(found[0].Before.Data))
	}
}

// TestDecoysTakeNoPlace: a command makes more files than one scan takes. Before, they displaced a tracked file that sorts
// behind them, and hid the name of another new file.
func TestDecoysTakeNoPlace(t *testing.T) {
	s := takeSnapshot(t, true, "b.txt", "c/gone", "keep")
	require.NoError(t, os.Mkdir(s.Full("aa"), 0o755))
	for i := range scanFiles + 500 {
		require.NoError(t, os.WriteFile(s.Full(fmt.Sprintf("aa/%04d", i)), []byte("x"), 0o644))
	}
	require.NoError(t, os.WriteFile(s.Full("b.txt"), []byte("evil"), 0o644))
	require.NoError(t, os.Remove(s.Full("c/gone")))
	require.NoError(t, os.WriteFile(s.Full("zz"), []byte("evil"), 0o644))
	all, left := s.Scan(t.Context(), true, byShell)
	require.Len(t, all, scanFiles)
	require.True(t, slices.IsSortedFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) }))
	for name, before := range map[string]string{"b.txt": "b.txt", "c/gone": "c/gone"} {
		i := slices.IndexFunc(all, func(f Change) bool { return f.Path == name })
		require.NotEqual(t, -1, i, name)
		require.Equal(t, before, string(all[i].Before.Data))
	}
	require.Equal(t, "not listed for review: 503 changed files; the limit is 2000 files and 64 MiB at a time: "+
		"aa/1998 and 501 more beside it, zz", left.String())
}

func TestByFolder(t *testing.T) {
	require.Equal(t, "a", byFolder([]string{"a"}))
	require.Equal(t, "a/1 and 1 more beside it, a/b/1, 1, 2/1, 3/1, and 2 more elsewhere",
		byFolder([]string{"a/1", "a/2", "a/b/1", "1", "2/1", "3/1", "4/1", "5/1"}))
}

// TestLateScanIsToldOnce: only the last scan of a turn reports a lack of time, because it repeats all work.
func TestLateScanIsToldOnce(t *testing.T) {
	late := LeftOut{late: 3}
	require.Empty(t, late.After(ScanTime))
	require.Contains(t, late.After(LastScanTime), "took longer than 20s")
	require.Contains(t, LeftOut{late: 3, more: []string{"a"}}.After(ScanTime), "not listed for review: 1 changed file;")
}

// TestFoldersInEachOthersPlace exchanges two folders. Their files count as changed at that moment, whatever the times of the
// folders that now have their names. Before, they counted as an older change by a person.
func TestFoldersInEachOthersPlace(t *testing.T) {
	for _, repo := range []bool{true, false} {
		for _, list := range []bool{true, false} {
			s := takeSnapshot(t, repo, "d/in/a", "d/in/same", "e/in/b", "e/in/same")
			require.NoError(t, os.Rename(s.Full("d"), s.Full("t")))
			require.NoError(t, os.Rename(s.Full("e"), s.Full("d")))
			require.NoError(t, os.Rename(s.Full("t"), s.Full("e")))
			swapped := min(filestat.Of(s.Full("d")).Changed(), filestat.Of(s.Full("e")).Changed())
			seen := map[string]bool{}
			s.Scan(t.Context(), list, func(c ChangeTime) Attribution {
				if !strings.HasPrefix(c.Path, ".git/") { // .git is as old as the snapshot, and stays in its place
					require.GreaterOrEqual(t, c.When, swapped, "%s, git %t, all listed %t", c.Path, repo, list)
				}
				seen[c.Path] = true
				return Attribution{Leave: true}
			})
			for _, name := range []string{"d/in/a", "d/in/same", "e/in/b", "e/in/same"} {
				require.True(t, seen[name], name)
			}
		}
	}
}

// TestAFileGoesWhenALinkReplacesItsFolder: the folder of the file is found through the link, the same one or another, and its times, of long
// before, are not those of the change.
func TestAFileGoesWhenALinkReplacesItsFolder(t *testing.T) {
	for _, script := range []string{"mv d d9; ln -s d9 d", "rm -r d; ln -s o d"} {
		for _, repo := range []bool{true, false} {
			s := takeSnapshot(t, repo, "d/e/f/g", "o/e/f/g")
			began := filestat.Of(s.Full("d/e/f")).Changed()
			require.Eventually(t, func() bool { // the clock of the file system has moved on
				require.NoError(t, os.WriteFile(s.Full("tick"), nil, 0o644))
				return filestat.Of(s.Full("tick")).Changed() > began
			}, 10*time.Second, time.Millisecond)
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir = s.root
			require.NoError(t, cmd.Run())
			require.Greater(t, s.ChangedAt("d/e/f/g", filestat.Stat{}), began, script)
		}
	}
}

// TestAChangeBeyondTheBounds: such a change is not listed, and the content before it stays known for the next change.
func TestAChangeBeyondTheBounds(t *testing.T) {
	for _, repo := range []bool{true, false} {
		s := takeSnapshot(t, repo, "a")
		was, known := s.At("a")
		require.True(t, known)
		agents := diffs.Source{TurnID: "t", Via: diffs.ViaShell}
		changed := func(text string) []Change {
			require.NoError(t, os.WriteFile(s.Full("a"), []byte(text), 0o644))
			all, _ := s.Scan(t.Context(), true, func(ChangeTime) Attribution { return Attribution{Source: &agents} })
			return slices.DeleteFunc(all, func(c Change) bool { return c.Path != "a" })
		}
		require.NoError(t, os.WriteFile(s.Full("a"), []byte("beyond the bounds"), 0o644))
		s.skip("a", filestat.Of(s.Full("a")))
		found := changed("something else")
		require.Len(t, found, 1, "git %t", repo)
		require.True(t, found[0].Known)
		require.Equal(t, was, found[0].Before)
	}
}

func TestTooWide(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("HOME", home)
	for dir, wide := range map[string]bool{
		"/": true, filepath.Dir(home): true, home: true, filepath.Join(home, "work"): false, t.TempDir(): false,
	} {
		require.Equal(t, wide, TooWide(dir) != "", dir)
	}
}

// TestBeingCut recognises a file that a program is emptying: its times are still those of the former content.
func TestBeingCut(t *testing.T) {
	full := filestat.Stat{Ino: 7, Size: 9, Mtime: 100, Ctime: 100}
	for name, tt := range map[string]struct {
		is   filestat.Stat
		want bool
	}{
		"cut off, and not dated yet": {filestat.Stat{Ino: 7, Mtime: 100, Ctime: 100}, true},
		"emptied":                    {filestat.Stat{Ino: 7, Mtime: 200, Ctime: 200}, false},
		"another file, empty":        {filestat.Stat{Ino: 8, Mtime: 100, Ctime: 100}, false},
		"shorter":                    {filestat.Stat{Ino: 7, Size: 3, Mtime: 100, Ctime: 100}, false},
		"gone":                       {filestat.Stat{}, false},
	} {
		f := Change{Was: full, Is: tt.is}
		require.Equal(t, tt.want, f.beingCut(), name)
	}
}

// TestASaveThatACallBeginsIn: a person empties a file to save it, and a call begins before the save is done. The former
// content stays known, and the next change may be the person's.
func TestASaveThatACallBeginsIn(t *testing.T) {
	now := clock.Now()
	was := filestat.Stat{Ino: 7, Size: 9, Mtime: 100, Ctime: 100}
	full := &entry{Stat: was}
	s := &Snapshot{root: t.TempDir(), began: now, files: states{own: map[string]*entry{"f": full}}}
	at := time.Now().UnixNano()
	f := Change{Path: "f", Was: was, Is: filestat.Stat{Ino: 7, Mtime: at, Ctime: at}}
	require.True(t, s.beingSaved(nil, &f, candidate{path: "f", entry: full, is: f.Is}), "it is left to the next look")
	require.Equal(t, was, s.files.get("f").Stat)

	agents := diffs.Source{TurnID: "t", Via: diffs.ViaShell}
	f = Change{Path: "f", Was: was, Is: filestat.Stat{Ino: 7, Size: 12, Mtime: at, Ctime: at}, Source: &agents}
	require.False(t, s.beingSaved(nil, &f, candidate{path: "f", entry: full, is: f.Is}))
	require.Equal(t, diffs.ViaUnknown, f.Source.Via)
	require.Equal(t, diffs.ViaShell, agents.Via)

	// A file that was emptied long ago is empty.
	long := at - int64(time.Minute)
	f = Change{Path: "f", Was: was, Is: filestat.Stat{Ino: 7, Mtime: long, Ctime: long}}
	require.False(t, s.beingSaved(nil, &f, candidate{path: "f", entry: &entry{Stat: was}, is: f.Is}))
}

// commitAll makes a repository of a folder's files.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b"}, {"add", "-A"}, {"commit", "-q", "-m", "m"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func guardIn(t testing.TB, root string) *askgit.Guard {
	return &askgit.Guard{Home: filepath.Join(t.TempDir(), "git"), Root: root}
}

// TestALateSnapshotTakesNoPlantedLink has an agent give a path another file before the snapshot has seen it, and before anybody has heard
// of a call. A reject once wrote through such a name. A name from before the turn is still a person's.
func TestALateSnapshotTakesNoPlantedLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	outside := filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	require.NoError(t, os.Link(filepath.Join(dir, "mine"), filepath.Join(t.TempDir(), "another")))
	require.Eventually(t, func() bool { return !filestat.Of(filepath.Join(dir, "mine")).Racy(clock.Now()) }, time.Minute, time.Millisecond)

	s := Empty(dir)
	s.nested, s.spool = map[string]bool{}, newSpool(t.TempDir())
	t.Cleanup(s.Close)
	s.AgentBegins()
	require.NoError(t, os.Link(outside, s.Full("planted")))
	s.take(t.Context())
	require.Empty(t, s.Useless())
	require.Equal(t, uint64(2), s.Linked("mine").Names)
	require.Zero(t, s.Linked("planted"))
}

// TestALookAtAllFilesInParts: a look at all files finds a change in each part of the table, and files that are not in it.
func TestALookAtAllFilesInParts(t *testing.T) {
	defer func(was int) { glanceBlock = was }(glanceBlock)
	glanceBlock = 2
	for _, repo := range []bool{true, false} {
		s := takeSnapshot(t, repo, "a", "b", "c", "d", "e", "f", "g")
		require.NoError(t, os.WriteFile(s.Full("own"), []byte("own"), 0o644))
		s.Note("own", filestat.Stat{}, atomicfile.Read(s.root, "own"))
		for _, name := range []string{"a", "b", "d", "g", "new", "own"} {
			require.NoError(t, os.WriteFile(s.Full(name), []byte("another text"), 0o644))
		}
		require.NoError(t, os.Rename(s.Full("e"), s.Full("moved")))
		ctx, cancel := context.WithTimeout(t.Context(), LastScanTime)
		all, left := s.Scan(ctx, true, byShell)
		cancel()
		require.Empty(t, left.String())
		var found []string
		for _, c := range all {
			found = append(found, c.Path)
		}
		require.Equal(t, []string{"a", "b", "d", "g", "moved", "new", "own"}, found, "git %t", repo)
		require.Equal(t, "e", all[4].From.Path)
	}
}
