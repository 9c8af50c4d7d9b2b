package treewatch

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/filestat"
)

// A Watch watches folders of one tree. The nil Watch watches nothing and knows of nothing. Several goroutines may use it.
type Watch struct {
	root   string
	is     filestat.Stat // root
	mounts string        // what is mounted below root

	file  *os.File
	fd    int // of file; guarded by mu, not to be used once lost
	conn  syscall.RawConn
	ended chan struct{} // closed when its goroutine has ended
	over  chan struct{} // closed when it is lost

	mu      sync.Mutex // guards all below
	lost    bool       // it is of no more use
	now     Mark
	changed map[string]Mark // when a path may have changed last
	dirs    map[int32]string
	wds     map[string]int32
	buf     []byte
}

const mask = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// rest is how long events are left to the system before they are read: it has room for some thousands.
const rest = 50 * time.Millisecond

// atOnce is how many bytes of events are read at a time. The system keeps no more than that, if nobody has told it to.
const atOnce = 16 << 20

var (
	watched atomic.Int64 // folders, by all watches
	allowed = sync.OnceValue(func() int64 {
		text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
		n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return 0
		}
		return min(most, n/share)
	})
)

// New returns a Watch of the tree root, an absolute path; nil if there can be none.
func New(root string) *Watch {
	mounts, ok := mountsBelow(root)
	if !ok || allowed() == 0 {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &Watch{
		root: root, is: filestat.Of(root), mounts: mounts, file: os.NewFile(uintptr(fd), "inotify"), fd: fd, ended: make(chan struct{}), over: make(chan struct{}),
		changed: map[string]Mark{}, dirs: map[int32]string{}, wds: map[string]int32{}, buf: make([]byte, 64<<10),
	}
	if w.conn, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return nil
	}
	go w.run()
	return w
}

// run reads events, so that the system never has too many of them.
func (w *Watch) run() {
	defer close(w.ended)
	defer w.file.Close()
	for {
		err := w.conn.Read(func(uintptr) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.lost || w.drain() > 0
		})
		if err != nil { // it is lost
			return
		}
		select {
		case <-w.over:
			return
		case <-time.After(rest):
		}
	}
}

// Close ends the watch. Nothing is known by it any more.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.lose()
	w.mu.Unlock()
	<-w.ended
}

// lose ends the watch. w.mu must be held.
func (w *Watch) lose() {
	if w.lost {
		return
	}
	w.lost = true
	watched.Add(-int64(len(w.dirs)))
	w.changed, w.dirs, w.wds, w.buf = nil, nil, nil, nil
	close(w.over)
	_ = w.file.SetReadDeadline(time.Unix(1, 0)) // wakes run, which closes it: whoever reads it cannot
}

// Cover watches a folder, a slash path below the root, "." is the root itself, from now on. It returns false if it cannot be watched.
func (w *Watch) Cover(dir string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return false
	}
	if _, known := w.wds[dir]; known {
		return true
	}
	if watched.Load() >= allowed() {
		return false
	}
	wd, err := unix.InotifyAddWatch(w.fd, w.root+"/"+dir, mask)
	if err != nil {
		return false
	}
	if was, known := w.dirs[int32(wd)]; known { // the folder has another name, too, or had it
		if was != dir {
			w.lose()
		}
		return false
	}
	watched.Add(1)
	dir = strings.Clone(dir) // it may be a part of all that git has said
	w.dirs[int32(wd)], w.wds[dir] = dir, int32(wd)
	return true
}

// Covers returns whether a folder is watched.
func (w *Watch) Covers(dir string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.wds[dir]
	return known
}

// Touch notes that a path may have changed.
func (w *Watch) Touch(name string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touch(name)
}

func (w *Watch) touch(name string) {
	if w.lost {
		return
	}
	if len(w.changed) >= changes {
		w.lose()
		return
	}
	w.now++
	w.changed[strings.Clone(name)] = w.now
}

// Since returns the paths of watched folders, files and folders, that may have changed since a mark, and the present mark. It returns
// false if it does not know them all; then it never will again.
func (w *Watch) Since(since Mark) (changed []string, now Mark, ok bool) {
	if w == nil {
		return nil, 0, false
	}
	mounts, ok := mountsBelow(w.root)
	is := filestat.Of(w.root)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.lost && (w.drain() >= atOnce || !ok || mounts != w.mounts || is.Dev != w.is.Dev || is.Ino != w.is.Ino) {
		w.lose()
	}
	if w.lost {
		return nil, 0, false
	}
	for name, at := range w.changed {
		if at > since {
			changed = append(changed, name)
		}
	}
	return changed, w.now, true
}

// drain takes in the events that have come, and returns how many bytes they had. w.mu must be held.
func (w *Watch) drain() (all int) {
	for !w.lost && all < atOnce {
		n, err := unix.Read(w.fd, w.buf)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN {
			return all
		}
		if err != nil || n <= 0 {
			w.lose()
			return all
		}
		all += n
		for b := w.buf[:n]; len(b) >= unix.SizeofInotifyEvent && !w.lost; {
			wd, ev := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			w.event(wd, ev, string(bytes.TrimRight(b[unix.SizeofInotifyEvent:end], "\x00")))
			b = b[end:]
		}
	}
	return all
}

func (w *Watch) event(wd int32, ev uint32, name string) {
	dir, known := w.dirs[wd]
	switch full := path.Join(dir, name); {
	case ev&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0:
		w.lose()
	case !known: // it was removed
	case ev&unix.IN_IGNORED != 0:
		delete(w.dirs, wd)
		delete(w.wds, dir)
		watched.Add(-1)
		w.touch(dir)
	case ev&unix.IN_MOVE_SELF != 0, ev&unix.IN_ATTRIB != 0 && name == "" && !w.going(dir):
		w.lose() // all below it is elsewhere, or out of reach
	case ev&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0 && ev&unix.IN_ISDIR != 0 && w.knows(full):
		w.lose()
	default:
		w.touch(full)
	}
}

func (w *Watch) knows(dir string) bool {
	_, known := w.wds[dir]
	return known
}

// going reports whether a folder is being removed, which changes its number of links first.
func (w *Watch) going(dir string) bool {
	return dir != "." && !filestat.Of(w.root+"/"+dir).Exists()
}

// mountsBelow returns what is mounted at the root or below it, as the system tells it.
func mountsBelow(root string) (string, bool) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", false
	}
	var below strings.Builder
	quoted := strings.NewReplacer("\\", `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(root)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 4 && (f[4] == quoted || strings.HasPrefix(f[4], quoted+"/")) {
			below.WriteString(line)
		}
	}
	return below.String(), true
}
