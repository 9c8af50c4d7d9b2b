package treewatch

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/dirwatch"
	"cursord/daemon/internal/filestat"
)

// A Watch watches folders of one tree. The nil Watch watches nothing and knows of nothing. Several goroutines may use it.
type Watch struct {
	root   string
	is     filestat.Stat // root
	mounts string        // what is mounted below root

	handle *dirwatch.Handle
	ended  chan struct{} // closed when its goroutine has ended
	over   chan struct{} // closed when it is lost

	mu      sync.Mutex // guards all below
	lost    bool       // it is of no more use
	now     Mark
	changed map[string]Mark // when a path may have changed last
	dirs    map[dirwatch.ID]string
	ids     map[string]dirwatch.ID
}

const mask = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

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
	h, err := dirwatch.Changes.Open()
	if err != nil {
		return nil
	}
	w := &Watch{
		root: root, is: filestat.Of(root), mounts: mounts, handle: h, ended: make(chan struct{}), over: make(chan struct{}),
		changed: map[string]Mark{}, dirs: map[dirwatch.ID]string{}, ids: map[string]dirwatch.ID{},
	}
	go w.run()
	return w
}

// run takes events, so that there are never too many of them.
func (w *Watch) run() {
	defer close(w.ended)
	defer w.handle.Close()
	for {
		select {
		case <-w.handle.Ready:
			w.mu.Lock()
			w.take()
			w.mu.Unlock()
		case <-w.over:
			return
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
	w.changed, w.dirs, w.ids = nil, nil, nil
	close(w.over) // run closes the handle, which may take a while
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
	if _, known := w.ids[dir]; known {
		return true
	}
	if watched.Load() >= allowed() {
		return false
	}
	id, err := w.handle.Add(w.root+"/"+dir, mask)
	if err != nil {
		return false
	}
	if was, known := w.dirs[id]; known { // the folder has another name, too, or had it
		if was != dir {
			w.lose()
		}
		return false
	}
	watched.Add(1)
	dir = strings.Clone(dir) // it may be a part of all that git has said
	w.dirs[id], w.ids[dir] = dir, id
	return true
}

// Covers returns whether a folder is watched.
func (w *Watch) Covers(dir string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.ids[dir]
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
	if !w.lost && (!ok || mounts != w.mounts || is.Dev != w.is.Dev || is.Ino != w.is.Ino) {
		w.lose()
	}
	if w.take(); w.lost {
		return nil, 0, false
	}
	for name, at := range w.changed {
		if at > since {
			changed = append(changed, name)
		}
	}
	return changed, w.now, true
}

// take takes in the events that have come. w.mu must be held.
func (w *Watch) take() {
	if w.lost {
		return
	}
	for _, ev := range w.handle.Take() {
		if w.event(ev); w.lost {
			return
		}
	}
}

func (w *Watch) event(ev dirwatch.Event) {
	dir, known := w.dirs[ev.ID]
	switch full := path.Join(dir, ev.Name); {
	case ev.Kind&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0:
		w.lose()
	case !known: // it was removed
	case ev.Kind&unix.IN_IGNORED != 0:
		delete(w.dirs, ev.ID)
		delete(w.ids, dir)
		watched.Add(-1)
		w.touch(dir)
	case ev.Kind&unix.IN_MOVE_SELF != 0, ev.Kind&unix.IN_ATTRIB != 0 && ev.Name == "" && !w.going(dir):
		w.lose() // all below it is elsewhere, or out of reach
	case ev.Kind&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0 && ev.Kind&unix.IN_ISDIR != 0 && w.knows(full):
		w.lose()
	default:
		w.touch(full)
	}
}

func (w *Watch) knows(dir string) bool {
	_, known := w.ids[dir]
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
