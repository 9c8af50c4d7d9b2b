package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"cursord/daemon/internal/filestat"
)

// Bounds of a snapshot. The agent's prompt waits for it.
const (
	snapshotTime = 3 * time.Second
	gitEntries   = 300_000 // paths in a git work tree
	walkEntries  = 50_000  // entries of folders elsewhere
)

// A snapshot is what a turn knows of the workspace's files, like a stocktaking that is kept up to date: their states
// when the turn began or when they were last looked at, and the contents that can be had nowhere else. It answers what
// a file held before a change, and the next scan is compared with it.
type snapshot struct {
	root  string
	began time.Time
	ready chan struct{} // closed when it is taken, or takes too long to wait for
	taken atomic.Bool

	mu       sync.Mutex        // guards all below
	repos    []repository      // the root's and those within; none: the folders were read, without git
	files    map[string]*entry // what is there
	dirs     map[string]inode  // folders that were there
	whole    map[string]bool   // without git: folders of which all entries are in files and dirs; "." is the root
	nested   map[string]bool   // folders for repositories within, of which nothing is known; whether there is one
	reruled  bool              // what git ignores has changed since
	spool    spool
	unusable string // why nothing can be compared with it; "" if it can
	short    string // what is missing in it, for people; "" if nothing is
}

// An entry is a file, or a link, at one moment.
type entry struct {
	filestat.Stat
	racy    bool    // it may have changed since and look the same
	oid     string  // git's name of the content; "" if it has none
	content spooled // the content, or nowhere
}

type inode struct{ dev, ino uint64 }

// newSnapshot begins to take a snapshot; stop ends it early.
func newSnapshot(root, stateDir string) (s *snapshot, stop func()) {
	s = &snapshot{
		root: root, began: time.Now(), ready: make(chan struct{}), files: map[string]*entry{}, dirs: map[string]inode{},
		whole: map[string]bool{}, nested: map[string]bool{}, spool: spool{dir: stateDir},
	}
	ctx, cancel := context.WithTimeout(context.Background(), snapshotTime)
	ready := sync.OnceFunc(func() { close(s.ready) })
	late := time.AfterFunc(snapshotTime+snapshotTime/4, ready) // a disk that does not answer does not hear of ctx
	go func() {
		defer cancel()
		s.take(ctx)
		s.taken.Store(true)
		late.Stop()
		ready()
	}()
	return s, cancel
}

// emptySnapshot returns one that knows nothing.
func emptySnapshot(root string) *snapshot {
	return &snapshot{root: root, began: time.Now(), files: map[string]*entry{}, dirs: map[string]inode{}, whole: map[string]bool{}}
}

func (s *snapshot) take(ctx context.Context) {
	give := func(why string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unusable = why
	}
	if why := tooWide(s.root); why != "" {
		s.readTop()
		give(why)
		return
	}
	list, why := s.list(ctx)
	if why != "" {
		give(why)
		return
	}
	stats, all := s.lstats(ctx, list.files)
	if !all {
		give("its files could not all be looked at in time")
		return
	}
	s.keep(list, stats)
	s.readContents(ctx, list.files)
}

// A listing names a workspace's files.
type listing struct {
	walked              // its files are those of git, if git has a word here
	repos  []repository // none: the folders were read
	nested map[string]bool
}

// list names the workspace's files, and says which differ from git's index.
func (s *snapshot) list(ctx context.Context) (l listing, unusable string) {
	if inGit(s.root) {
		r, err := listRepositories(ctx, s.root)
		if err == nil && len(r.files) == 0 {
			if ignored, _ := r.all[0].git.ignored(ctx, "."); ignored {
				err = fs.ErrNotExist // nothing here is git's business
			}
		}
		switch {
		case ctx.Err() != nil:
			return l, "git took too long to list its files"
		case err == nil && len(r.files) > gitEntries:
			return l, fmt.Sprintf("it has more than %d files", gitEntries)
		case err == nil:
			return listing{walked{files: r.files}, r.all, r.nested}, ""
		}
	}
	return listing{walked: walk(ctx, s.root), nested: map[string]bool{}}, ""
}

func (s *snapshot) lstats(ctx context.Context, files []listed) ([]filestat.Stat, bool) {
	return filestat.All(len(files), func(i int) string { return s.full(files[i].path) }, func() bool { return ctx.Err() != nil })
}

func (s *snapshot) full(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// keep makes the table.
func (s *snapshot) keep(list listing, stats []filestat.Stat) {
	files := make(map[string]*entry, len(list.files))
	slab := make([]entry, len(list.files))
	for i, l := range list.files {
		if !stats[i].Exists() || stats[i].Mode.IsDir() {
			continue
		}
		e := &slab[i]
		*e = entry{Stat: stats[i], racy: stats[i].Racy(s.began.UnixNano()), content: nowhere}
		if !l.dirty && !l.gone && !e.racy {
			e.oid = l.oid
		}
		files[l.path] = e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos, s.files, s.nested, s.whole = list.repos, files, list.nested, list.whole
	for _, dir := range list.dirs {
		s.dirs[dir] = inode{}
	}
	if len(list.repos) > 0 {
		for name := range files {
			s.addDirs(name)
		}
	}
	if list.cut {
		s.short = "some folders could not be listed within the limits"
	}
	for dir, there := range list.nested {
		if there {
			s.short = fmt.Sprintf("the repository in %s could not be looked into", shown(dir))
		}
	}
}

// addDirs notes the folders of a path. s.mu must be held.
func (s *snapshot) addDirs(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, known := s.dirs[dir]; known {
			return
		}
		st := filestat.Of(s.full(dir))
		s.dirs[dir] = inode{st.Dev, st.Ino}
	}
}

// readContents keeps the contents that git does not have: first those of files that it knows.
func (s *snapshot) readContents(ctx context.Context, list []listed) {
	r, err := os.OpenRoot(s.root)
	if err != nil {
		return
	}
	defer r.Close()
	late := 0
	for _, known := range []bool{true, false} {
		for _, l := range list {
			s.mu.Lock()
			e := s.files[l.path]
			want := e != nil && e.oid == "" && (l.oid != "") == known && e.Size <= spoolFile
			s.mu.Unlock()
			if !want {
				continue
			}
			if ctx.Err() != nil {
				late++
				continue
			}
			st, img := s.read(r, l.path)
			s.mu.Lock()
			e.Stat, e.racy = st, st.Racy(s.began.UnixNano())
			if img.odd == "" && img.Exists {
				e.content = s.spool.put(img.bytes())
			}
			s.mu.Unlock()
		}
	}
	if late > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.short = fmt.Sprintf("what %d of its files held could not be read in time", late)
	}
}

// read reads a path together with the state in which it holds this.
func (s *snapshot) read(r *os.Root, name string) (filestat.Stat, image) {
	for try := 0; ; try++ {
		before := filestat.Of(s.full(name))
		img := readRooted(r, name)
		after := filestat.Of(s.full(name))
		if before == after || try == 2 {
			return after, img
		}
	}
}

// readTop notes what the root itself holds, and no more.
func (s *snapshot) readTop() {
	list, err := os.ReadDir(s.root)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole["."] = true
	for _, e := range list {
		if e.IsDir() {
			s.dirs[e.Name()] = inode{}
		} else {
			s.files[e.Name()] = &entry{content: nowhere}
		}
	}
}

// tooWide says why a root holds too much of other kinds to be looked at as a whole; "" if it does not.
func tooWide(root string) string {
	if filepath.Dir(root) == root {
		return "it is the root of the file system"
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	if _, inside := within(root, home); inside || root == home {
		return "the home directory is in it"
	}
	return ""
}
