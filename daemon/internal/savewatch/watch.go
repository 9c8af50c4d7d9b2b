// Package savewatch reports each save of a few files, those that open tool calls name. It watches their folders, because
// most editors replace a file when they save it.
//
// On Linux it counts every save, even if it looks later: each end of a write, and each file that takes the place of another.
// Other systems do not report the ends of writes, so there writes are reported but not counted.
package savewatch

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
)

// Bounds of a Watch: an agent that opens more files or folders at once gets no watch for each.
const (
	maxFiles   = 1000
	maxFolders = 100
)

// ErrTooMany is returned for a file once the maximum is watched.
var ErrTooMany = errors.New("too many files are watched")

// A Watch watches files. The zero Watch is ready, and uses no resources of the system until a file is added. Any goroutine
// may call its methods.
type Watch struct {
	looking sync.Mutex // held while look is called, and before mu

	mu      sync.Mutex
	sys     *system            // guarded by mu; nil before the first file, and once it is closed
	closed  bool               // guarded by mu
	files   map[string][]*File // guarded by mu; by path
	folders map[string]*folder // guarded by mu; by path
	count   int                // guarded by mu; number of files
	seen    map[*File]struct{} // guarded by mu; files whose saves are reported once mu is free
}

// A folder is one that is watched.
type folder struct {
	path  string
	files int
}

// A File is a watched file, until Stop.
type File struct {
	w      *Watch
	path   string
	folder *folder
	begun  bool // guarded by w.mu; somebody is writing it
	count  func(n int)
	look   func()
}

// Uncounted is the argument of count if nobody knows how often a file was saved.
const Uncounted = 1000

// Add begins to watch a file, given by its absolute path without links. For each save it calls count with 1, before Sync
// returns; count must be short and must not call the Watch. Then it calls look, which may read the file. It returns an error
// if the folder cannot be watched, and fs.ErrNotExist if there is no folder.
func (w *Watch) Add(path string, count func(n int), look func()) (*File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.count >= maxFiles {
		return nil, ErrTooMany
	}
	dir := filepath.Dir(path)
	in := w.folders[dir]
	if in == nil {
		if len(w.folders) >= maxFolders {
			return nil, ErrTooMany
		}
		if w.sys == nil {
			sys, err := w.start()
			if err != nil {
				return nil, err
			}
			w.sys, w.files, w.folders, w.seen = sys, map[string][]*File{}, map[string]*folder{}, map[*File]struct{}{}
		}
		if err := w.sys.add(dir); err != nil {
			return nil, err
		}
		in = &folder{path: dir}
		w.folders[dir] = in
	}
	in.files++
	f := &File{w: w, path: path, folder: in, count: count, look: look}
	w.files[path] = append(w.files[path], f)
	w.count++
	return f, nil
}

// Stop ends the watch of a file. Further calls do nothing.
func (f *File) Stop() {
	w := f.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.folder == nil {
		return
	}
	all := w.files[f.path]
	if i := slices.Index(all, f); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if w.files[f.path] = all; len(all) == 0 {
		delete(w.files, f.path)
	}
	delete(w.seen, f)
	w.count--
	if f.folder.files--; f.folder.files == 0 && w.folders[f.folder.path] == f.folder {
		delete(w.folders, f.folder.path)
		if w.sys != nil {
			w.sys.remove(f.folder.path)
		}
	}
	f.folder = nil
}

// Sync returns once all saves until now have been looked at and, if the system reports them, counted.
func (w *Watch) Sync() {
	w.take(func() {
		if w.sys != nil && w.count > 0 {
			w.sys.drain(w)
		}
	})
}

// take notes what was saved, and then calls look.
func (w *Watch) take(note func()) {
	w.looking.Lock()
	defer w.looking.Unlock()
	w.mu.Lock()
	note()
	var looks []func()
	for f := range w.seen {
		looks = append(looks, f.look)
	}
	clear(w.seen)
	w.mu.Unlock()
	for _, look := range looks {
		look()
	}
}

// Written reports whether, at the last Sync, somebody had begun to write the file and not ended.
func (f *File) Written() bool {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	return f.begun
}

// Close ends the watch of all files.
func (w *Watch) Close() {
	w.mu.Lock()
	sys := w.sys
	w.sys, w.closed = nil, true
	w.mu.Unlock()
	if sys != nil {
		sys.close()
	}
}

// saved notes a save. w.mu must be held.
func (f *File) saved(n int) {
	f.begun = false
	f.count(n)
	f.w.seen[f] = struct{}{}
}

// each calls do for the watched files at a path. w.mu must be held.
func (w *Watch) each(path string, do func(*File)) {
	for _, f := range w.files[path] {
		do(f)
	}
}

// lose notes that saves of files in a folder were missed; "" stands for all folders. w.mu must be held.
func (w *Watch) lose(dir string) {
	for _, all := range w.files {
		for _, f := range all {
			if dir == "" || f.folder.path == dir {
				f.saved(Uncounted)
			}
		}
	}
}
