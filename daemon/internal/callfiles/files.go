// Package callfiles watches the files that open calls name, and so sees each of their saves: a call that does not report its
// texts may have been only one of two writers.
package callfiles

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
)

// Bounds of the looks at a file while an open call names it. Further saves are only counted.
const (
	callLooks    = 50
	callLookSize = 4 << 20 // bytes
)

// Files are the files of a tree that open calls name.
type Files struct {
	Ledger   *attribution.Ledger // gets the saves
	Watch    *savewatch.Watch    // nil: the files are not watched
	Absolute func(path string) string
	Read     func(path string) atomicfile.State // reads a path, with targets of links as people name them
	Raw      func(path string) atomicfile.State // reads a path, with targets of links as the tree has them

	mu    sync.Mutex
	files map[string]*callFile // guarded by mu; by path
}

type callFile struct {
	calls int
	file  *savewatch.File
	from  int // how many saves the ledger had when the watch began
	looks int // only for the Watch's callbacks, which run one at a time
}

// Begin has a path watched that a call names; call it before the first look at the path. It returns false if the path cannot
// be watched. If it returns true, End must be called at the call's end.
func (c *Files) Begin(path string) bool {
	if c.Watch == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[path]
	if f == nil {
		f = &callFile{from: c.Ledger.Saves(path)}
		var err error
		if f.file, err = c.add(path, f); err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // the agent that makes the folder makes the file too
				c.Ledger.Saved(path, savewatch.Uncounted)
			}
			return false
		}
		if c.files == nil {
			c.files = map[string]*callFile{}
		}
		c.files[path] = f
	}
	f.calls++
	return true
}

func (c *Files) add(path string, f *callFile) (*savewatch.File, error) {
	full := c.Absolute(path)
	if name := filestat.RemoteFS(filepath.Dir(full)); name != "" {
		return nil, errors.New(name)
	}
	return c.Watch.Add(full, func(n int) { c.Ledger.Saved(path, n) }, func() { c.look(path, f) })
}

// look records the content of a file that somebody has saved.
func (c *Files) look(path string, f *callFile) {
	f.looks++
	full, at := c.Absolute(path), clock.Now()
	st := filestat.Of(full)
	if f.looks > callLooks || st.Size > callLookSize {
		return
	}
	if img := c.Raw(path); img.Unreadable == "" && filestat.Of(full) == st {
		c.Ledger.Look(path, attribution.Look{Content: img.Content, At: at, Within: true})
	}
}

// ReadLeft reads a path after the end of a call that does not report its result. It waits a moment while somebody is saving
// the path, because a save may begin with an empty file. saves is the number of saves until then, and changed the time of
// the last change.
func (c *Files) ReadLeft(path string) (after atomicfile.State, saves int, changed int64) {
	full, begun := c.Absolute(path), clock.Now()
	for ; ; time.Sleep(time.Millisecond) {
		was, st := c.Saves(path), filestat.Of(full)
		after = c.Read(path)
		saves = c.Saves(path)
		writing, empty, waited := c.writing(path), after.Exists && st.Size == 0, time.Duration(clock.Now()-begun)
		steady := saves == was && filestat.Of(full) == st && !writing && !empty
		if steady || waited > atomicfile.EmptyTime || waited > atomicfile.WriteTime && !(writing && empty) {
			return after, saves, st.Changed()
		}
	}
}

// writing reports whether somebody has begun a save of a path and not ended it.
func (c *Files) writing(path string) bool {
	c.mu.Lock()
	f := c.files[path]
	c.mu.Unlock()
	return f != nil && f.file.Written()
}

// Saves returns the number of saves of a path since the first of the open calls that name it began.
func (c *Files) Saves(path string) int {
	if c.Watch == nil {
		return 0
	}
	c.Watch.Sync()
	n := c.Ledger.Saves(path)
	if c.writing(path) {
		n++
	}
	return n
}

// Missed counts the saves of a path that came after the beginning of a call and before its watch, which begins when the daemon
// hears of the call. all returns how many saves of the path there were since the call began. If an earlier call is open, the
// path was watched all the time.
func (c *Files) Missed(path string, all func() int) {
	c.mu.Lock()
	f := c.files[path]
	missed := f != nil && f.calls == 1
	c.mu.Unlock()
	if missed {
		c.Watch.Sync()
		seen := c.Ledger.Saves(path) - f.from
		c.Ledger.Saved(path, max(0, all()-seen))
	}
}

// End ends the watch of a path for a call for which Begin returned true.
func (c *Files) End(path string) {
	c.mu.Lock()
	f := c.files[path]
	if f.calls--; f.calls > 0 {
		f = nil
	} else {
		delete(c.files, path)
	}
	c.mu.Unlock()
	if f != nil {
		f.file.Stop()
	}
}
