package review

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
	"cursord/diffs"
)

// Bounds of what is read of a file while a call is open that names it. What is saved beyond is counted.
const (
	callLooks    = 50
	callLookSize = 4 << 20 // bytes
)

// callFiles are the files of a work tree that open calls name: each save there is seen, since a call that does not report
// its texts may have been only one of two writers.
type callFiles struct {
	tree  *Worktree
	watch *savewatch.Watch

	mu    sync.Mutex
	files map[string]*callFile // guarded by mu; by path
}

type callFile struct {
	calls int
	file  *savewatch.File
	looks int // of the Watch's callbacks, of which one runs at a time
}

// begin has a path watched that a call names, before it is looked at. It returns false if that cannot be; else the call ends
// with end.
func (c *callFiles) begin(path string) bool {
	if c.watch == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[path]
	if f == nil {
		f = &callFile{}
		var err error
		if f.file, err = c.add(path, f); err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // whoever makes the folder makes the file
				c.tree.ledger.Saved(path, savewatch.Uncounted)
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

func (c *callFiles) add(path string, f *callFile) (*savewatch.File, error) {
	full := c.tree.absolute(path)
	if name := filestat.RemoteFS(filepath.Dir(full)); name != "" {
		return nil, errors.New(name)
	}
	return c.watch.Add(full, func(n int) { c.tree.ledger.Saved(path, n) }, func() { c.look(path, f) })
}

// look notes what a file holds that somebody has saved.
func (c *callFiles) look(path string, f *callFile) {
	f.looks++
	full, at := c.tree.absolute(path), clock.Now()
	st := filestat.Of(full)
	if f.looks > callLooks || st.Size > callLookSize {
		return
	}
	if img := atomicfile.Read(c.tree.root, path); img.Unreadable == "" && filestat.Of(full) == st {
		c.tree.ledger.Look(path, attribution.Look{Content: img.Content, At: at, Within: true})
	}
}

// readEnd looks at what a call has left of a file.
func (t *Turn) readEnd(f *Written, ev *agent.ToolEnd) {
	calls := &f.tree.calls
	switch {
	case !writes(ev.Call.Name) || f.change.After != nil || f.change.Deleted:
		f.after = f.tree.translated(atomicfile.ReadWritten(f.tree.root, f.path, f.change.After))
	default:
		var changed int64
		to, dated := saidAt(ev.Said, t.arrived, clock.Now())
		f.after, f.saves, changed = calls.readLeft(f.path)
		if f.saves > 0 { // else it was over before anybody looked, and what is of the moment in which it ended may be later
			to += int64(time.Millisecond)
		}
		// A formatter of hooks is part of the change.
		f.late = dated && filestat.ChangeTimes && !f.tree.isolated() && !t.hooks.AfterEdit && changed > to
	}
	if writes(ev.Call.Name) {
		f.via, f.end = diffs.ViaEdit, f.tree.ledger.Ends(f.path, f.at)
		f.saves = max(f.saves, calls.saves(f.path))
	}
}

// readLeft reads a path that a call has left which does not say what it left there. It waits a moment for whoever is just
// saving it, which may begin with an empty file. saves is how often that had been by then, and changed when it was last.
func (c *callFiles) readLeft(path string) (after atomicfile.State, saves int, changed int64) {
	full, begun := c.tree.absolute(path), clock.Now()
	for ; ; time.Sleep(time.Millisecond) {
		was, st := c.saves(path), filestat.Of(full)
		after = c.tree.read(path)
		saves = c.saves(path)
		writing, empty, waited := c.writing(path), after.Exists && st.Size == 0, time.Duration(clock.Now()-begun)
		steady := saves == was && filestat.Of(full) == st && !writing && !empty
		if steady || waited > atomicfile.EmptyTime || waited > atomicfile.WriteTime && !(writing && empty) {
			return after, saves, st.Changed()
		}
	}
}

// writing reports whether somebody has begun to save a path, and has not ended.
func (c *callFiles) writing(path string) bool {
	c.mu.Lock()
	f := c.files[path]
	c.mu.Unlock()
	return f != nil && f.file.Written()
}

// saves returns how often a path has been saved since the first of the open calls began that name it.
func (c *callFiles) saves(path string) int {
	if c.watch == nil {
		return 0
	}
	c.watch.Sync()
	n := c.tree.ledger.Saves(path)
	if c.writing(path) {
		n++
	}
	return n
}

// end says that a call has ended, for which begin returned true.
func (c *callFiles) end(path string) {
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
