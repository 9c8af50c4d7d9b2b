package dirwatch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

const all = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ONLYDIR

func open(t *testing.T, in *Instance) *Handle {
	t.Helper()
	h, err := in.Open()
	require.NoError(t, err)
	t.Cleanup(h.Close)
	return h
}

func add(t *testing.T, h *Handle, dir string, mask uint32) ID {
	t.Helper()
	id, err := h.Add(dir, mask)
	require.NoError(t, err)
	return id
}

func put(t *testing.T, elem ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(elem...), []byte("text"), 0o644))
}

// names lists the files that events of a watch name, each once.
func names(events []Event, id ID) (list []string) {
	for _, ev := range events {
		if n := len(list); ev.ID == id && (n == 0 || list[n-1] != ev.Name) {
			list = append(list, ev.Name)
		}
	}
	return list
}

// instances counts those that the process has.
func instances(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

// TestManyHandles: a hundred and fifty share one instance, each gets the events of its own folder alone, and the last one ends it.
func TestManyHandles(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var in Instance
	before, dir := instances(t), t.TempDir()
	handles, ids := make([]*Handle, 150), make([]ID, 150)
	for i := range handles {
		require.NoError(t, os.Mkdir(filepath.Join(dir, strconv.Itoa(i)), 0o755))
		handles[i] = open(t, &in)
		ids[i] = add(t, handles[i], filepath.Join(dir, strconv.Itoa(i)), all)
	}
	require.Equal(t, before+1, instances(t))
	for i := range handles {
		put(t, dir, strconv.Itoa(i), fmt.Sprint("f", i))
	}
	for i, h := range handles {
		<-h.Ready
		require.Equal(t, []string{fmt.Sprint("f", i)}, names(h.Take(), ids[i]))
		require.Empty(t, h.Take())
	}
	for _, h := range handles {
		h.Close()
		_, open := <-h.Ready
		require.False(t, open)
		_, err := h.Add(dir, all)
		require.ErrorIs(t, err, os.ErrClosed)
		h.Remove(ids[0])
		require.Nil(t, h.Take())
	}
	require.Equal(t, before, instances(t))
	require.Nil(t, in.reader)
}

// TestSharedFolder: handles that watch the same folder, also by another name, both get its events: those that they asked for, since they did, and as long as they watch.
func TestSharedFolder(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var in Instance
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	a, b, c := open(t, &in), open(t, &in), open(t, &in)
	ofA := add(t, a, dir, all)
	put(t, dir, "1")
	ofB := add(t, b, link, unix.IN_CREATE)
	ofC := add(t, c, dir, unix.IN_CLOSE_WRITE)
	require.Equal(t, ofA, add(t, a, link, all), "the folder is watched")
	require.Len(t, in.watches, 1)
	put(t, dir, "2")
	require.Equal(t, []string{"1", "2"}, names(a.Take(), ofA))
	ofThem := b.Take()
	require.Len(t, ofThem, 1)
	require.Equal(t, uint32(unix.IN_CREATE), ofThem[0].Kind)
	require.Equal(t, []string{"2"}, names(ofThem, ofB))
	require.Equal(t, []string{"2"}, names(c.Take(), ofC))
	b.Remove(ofB)
	a.Close()
	put(t, dir, "3")
	require.Empty(t, b.Take())
	require.Equal(t, []string{"3"}, names(c.Take(), ofC))
	again := add(t, b, dir, all)
	require.NotEqual(t, ofB, again)
	c.Remove(ofC)
	put(t, dir, "4")
	require.Equal(t, []string{"4"}, names(b.Take(), again))
	b.Remove(again)
	require.Empty(t, in.watches, "nobody else watches it")
	put(t, dir, "5")
	require.Empty(t, b.Take())
}

// TestFolderThatGoes: whoever watches it gets its end, and can watch the one that takes its place.
func TestFolderThatGoes(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var in Instance
	dir := filepath.Join(t.TempDir(), "dir")
	a, b := open(t, &in), open(t, &in)
	_, err := a.Add(dir, all)
	require.ErrorIs(t, err, fs.ErrNotExist)
	put(t, dir)
	_, err = a.Add(dir, all)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o755))
	ofA, ofB := add(t, a, dir, all), add(t, b, dir, unix.IN_MODIFY)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o755))
	next := add(t, a, dir, all)
	require.NotEqual(t, ofA, next)
	put(t, dir, "f")
	events := a.Take()
	require.Equal(t, uint32(unix.IN_IGNORED), events[0].Kind)
	require.Equal(t, ofA, events[0].ID)
	require.Equal(t, []string{"f"}, names(events, next))
	events = b.Take()
	require.Len(t, events, 1)
	require.Equal(t, ofB, events[0].ID)
	b.Remove(ofB)
	require.Len(t, in.watches, 1)
	require.Empty(t, b.subs)
}

// flood makes n events in a folder, and calls now and then.
func flood(t *testing.T, dir string, n int, now func()) {
	t.Helper()
	put(t, dir, "a")
	put(t, dir, "b")
	for i := range n { // equal events that follow each other would be one
		require.NoError(t, os.Chmod(filepath.Join(dir, []string{"a", "b"}[i%2]), 0o600))
		if i%100 == 0 {
			now()
		}
	}
}

// TestOverflow: if the system has lost events, each handle is told, also one whose folders are quiet.
func TestOverflow(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var in Instance
	busy, quiet := t.TempDir(), t.TempDir()
	handles := []*Handle{open(t, &in), open(t, &in), open(t, &in)}
	add(t, handles[0], busy, all)
	ofQuiet := add(t, handles[1], quiet, all)
	func() {
		text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
		require.NoError(t, err)
		system, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		in.mu.Lock() // nobody reads
		defer in.mu.Unlock()
		flood(t, busy, system+10, func() {})
	}()
	for _, h := range handles {
		<-h.Ready
		require.Equal(t, []Event{{Kind: unix.IN_Q_OVERFLOW}}, h.Take())
		require.Empty(t, h.Take())
	}
	put(t, quiet, "f")
	require.Equal(t, []string{"f"}, names(handles[1].Take(), ofQuiet), "it goes on")
}

// TestSlowHandle: one whose user takes nothing loses its own events, and holds up nobody.
func TestSlowHandle(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var in Instance
	busy, quiet := t.TempDir(), t.TempDir()
	slow, other := open(t, &in), open(t, &in)
	ofSlow, ofOther := add(t, slow, busy, all), add(t, other, quiet, all)
	put(t, quiet, "before")
	flood(t, busy, most, func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.read()
	})
	put(t, quiet, "after")
	require.Equal(t, []string{"before", "after"}, names(other.Take(), ofOther))
	require.Equal(t, []Event{{Kind: unix.IN_Q_OVERFLOW}}, slow.Take())
	put(t, busy, "f")
	require.Equal(t, []string{"f"}, names(slow.Take(), ofSlow))
}

// TestManyWatchesEnd: the system tells of the end of each watch. However many end at once, that cannot fill its queue.
func TestManyWatchesEnd(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	in := Instance{rest: time.Hour}
	dir := t.TempDir()
	large, other := open(t, &in), open(t, &in)
	ofOther := add(t, other, dir, all)
	for i := range 3*atOnce + 1 {
		sub := filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(sub, 0o755))
		add(t, large, sub, all)
	}
	other.Take()
	put(t, dir, "f")
	large.Close()
	in.mu.Lock()
	left, err := unix.IoctlGetInt(in.reader.fd, unix.TIOCINQ)
	in.mu.Unlock()
	require.NoError(t, err)
	require.LessOrEqual(t, left, atOnce*unix.SizeofInotifyEvent)
	require.Equal(t, []string{"f"}, names(other.Take(), ofOther))
	require.Len(t, in.watches, 1)
}

// TestLimits: the errors say which limit of the system is reached.
func TestLimits(t *testing.T) {
	err := limit(unix.EMFILE, unix.EMFILE, "max_user_instances", "text")
	require.ErrorIs(t, err, syscall.EMFILE)
	require.Regexp(t, `^text, or raise fs\.inotify\.max_user_instances \(now \d+\)$`, err.Error())
	require.Equal(t, unix.EACCES, limit(unix.EACCES, unix.EMFILE, "max_user_instances", "text"))
}
