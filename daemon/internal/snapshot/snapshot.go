package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/paths"
)

// Wait is the longest time that the agent's prompt waits for a snapshot. A later snapshot is still of use if it is ready
// before a call begins that may write.
const Wait = 3 * time.Second

// Bounds of a snapshot.
const (
	snapshotTime = 30 * time.Second
	gitEntries   = 1_200_000 // paths in a git work tree; 100 bytes for each stay in memory, and 200 are needed while they are listed
	walkEntries  = 50_000    // entries of folders without git
)

// A Snapshot has the states of a workspace's files when a turn began or when they were last looked at, and the contents that
// nothing else keeps. It gives the content of a file before a change, and the next scan is compared with it.
type Snapshot struct {
	root     string
	keeper   *keeper // what snapshots of this tree leave to the next one
	guard    *askgit.Guard
	isolated bool          // of a session's copy
	shift    *Shift        // where the agent's changes lie; nil: in root
	began    int64         // a moment of package clock
	ready    chan struct{} // closed when the snapshot is taken, or after Wait
	taken    chan struct{} // closed when the snapshot is taken, or cannot be
	left     chan struct{} // closed when the snapshot is taken and has left what the next one can use; nil: it was not taken

	mu       sync.Mutex                          // guards all below
	repos    []git.Repository                    // the root's and the nested ones; none: the folders were read without git
	files    states                              // the present files
	dirs     map[string]inode                    // folders that existed
	looked   map[string]filestat.Stat            // folders in the states in which all names in them were known; zero: some may be unknown; nil: states do not tell
	whole    map[string]bool                     // without git: folders of which all entries are in files and dirs; "." is the root
	nested   map[string]bool                     // folders of nested repositories whose contents are unknown; false: a repository was only expected there
	rules    map[string]ignoreFile               // the ignore files that git listed, by their full names; nil if unknown
	hid      map[string]bool                     // files that rules of the turn hide from git, and whether they are listed all the same
	reruled  bool                                // ignored files have changed since, or are no longer known
	links    map[string]atomicfile.Links         // of files that had several names when the turn began
	long     map[string]bool                     // paths too long to look at that a notice has named, or that were there
	cut      bool                                // a walk has reached its limits, and a notice has said so
	noted    map[string]bool                     // in a Shift: paths that were noted
	texts    map[int64]bool                      // the times of texts that were written since it began and have been taken in
	away     map[string]*entry                   // what people have taken away since, by path
	seen     map[string][]Earlier                // changes that have not been taken in, by path
	scanned  int64                               // when a scan that has found all new files began; 0: none has
	watched  func(dir string) (is, bounded bool) // see WatchedBy
	sight    sight                               // since all were looked at for this snapshot
	first    *spool                              // the contents when the turn began; later snapshots may use it
	spool    *spool                              // later contents
	earlier  []*spool                            // contents of an earlier process, from which it was restored
	record   *record                             // nil: it is not written down
	mixed    bool                                // the state of a file has another state's content
	listed   bool                                // files and dirs are complete
	begun    int64                               // since when the agent may be at work, although no call of it is known yet; 0: it is not
	called   int64                               // since when calls may have written; 0: none has begun
	lookedAt int64                               // when files were last looked at, while it was taken
	ahead    *ahead                              // nil: none, or something has happened since
	unusable string                              // why nothing can be compared with it; "" if it can
	short    string                              // what is missing in it, for people; "" if nothing is
	littered bool                                // a scan has looked at so many files that what it has left behind is worth a collection of garbage

	aheads sync.WaitGroup

	over int // how many hidden files a notice has counted; for scans, of which there is one at a time
}

// An entry is a file or a link at one moment.
type entry struct {
	filestat.Stat
	racy     bool     // it may have changed without a difference in Stat
	doubtful bool     // nobody knows what it held (late.go); blob is only a guess
	blob     git.Blob // git's content; zero if git has none
	content  spooled  // the content, if it was kept
	gone     bool     // its disappearance has been taken in, but not where it went
	saving   bool     // a person was saving it when it was looked at
	until    int64    // all changes up to this moment have been taken in, whatever its times say
}

type inode struct{ dev, ino uint64 }

// Take begins to take a snapshot of the folder root; stop ends that early. Contents go into files in dir. If turn is not "", the
// snapshot is written down there for the case that the process is killed while that turn runs (ReadRecorded). If the folder is an
// isolated copy, git's folders are left out, and nothing is written down. A shift, if not nil, says where the agent's changes lie;
// what it has changed before belongs to the snapshot.
func (l *List) Take(root, dir, turn string, guard *askgit.Guard, isolated bool, shift *Shift) (s *Snapshot, stop func()) {
	s = &Snapshot{
		root: root, keeper: &l.kept, guard: guard, isolated: isolated, shift: shift, began: clock.Now(),
		ready: make(chan struct{}), taken: make(chan struct{}), left: make(chan struct{}),
		dirs: map[string]inode{}, whole: map[string]bool{}, nested: map[string]bool{}, long: map[string]bool{}, noted: map[string]bool{}, spool: newSpool(dir),
	}
	ctx, cancel := context.WithTimeout(context.Background(), snapshotTime)
	ready := sync.OnceFunc(func() { close(s.ready) })
	whole := func() {
		close(s.taken)
		ready()
	}
	late := time.AfterFunc(Wait, func() {
		s.AgentBegins()
		ready()
	})
	go func() {
		defer close(s.left)
		defer cancel()
		was := s.take(ctx)
		if isolated {
			turn = ""
		}
		atOnce := s.isWritten()
		if atOnce {
			s.first.writeAside()
			s.writeDown(turn)
		}
		late.Stop()
		l.kept.leaving.RLock()
		defer l.kept.leaving.RUnlock()
		if shift == nil {
			whole()
		}
		if !atOnce { // nobody waits for so many files
			s.first.writeAside()
			s.writeDown(turn)
		}
		s.leave(was)
		if shift != nil { // what is noted now is not for the next snapshot
			s.lay(ctx)
			whole()
		}
	}()
	return s, cancel
}

// Ready returns a channel that is closed when the snapshot is taken, at the latest after Wait.
func (s *Snapshot) Ready() <-chan struct{} { return s.ready }

// Taken returns a channel that is closed when the snapshot is taken, or cannot be.
func (s *Snapshot) Taken() <-chan struct{} { return s.taken }

// Began returns the moment of package clock at which the snapshot was begun.
func (s *Snapshot) Began() int64 { return s.began }

// Empty returns a snapshot that knows no content and needs no Close.
func Empty(root string) *Snapshot {
	return &Snapshot{root: root, began: clock.Now(), dirs: map[string]inode{}, whole: map[string]bool{}, long: map[string]bool{}}
}

// take takes the snapshot. If it was taken from what an earlier one has left, that is returned.
func (s *Snapshot) take(ctx context.Context) (was *kept) {
	give := func(why string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unusable = why
	}
	if why := TooWide(s.root); why != "" {
		s.readTop()
		give(why)
		return nil
	}
	if was = s.again(ctx); was != nil {
		return was
	}
	s.first = newSpool(s.spool.dir)
	list, why := s.list(ctx)
	if why != "" {
		give(why)
		return nil
	}
	if len(list.repos) > 0 {
		s.readRules(list.files, list.repos)
	}
	path := func(i int) string { return list.files[i].Path }
	seen := s.watchAll(list)
	looked := len(list.stats)
	stats, names, all := s.below(ctx, len(list.files)-looked, func(i int) string { return path(looked + i) })
	if looked > 0 {
		for i, n := range names {
			list.names[looked+i] = n
		}
		stats, names = append(list.stats, stats...), list.names
		list.stats = nil
	}
	if !all {
		give("its files could not all be looked at in time")
		return nil
	}
	compare(ctx, list, stats)
	seen.linked, seen.full = linkedOf(path, names), s.began
	s.keepLinks(path, stats, names)
	s.readContents(ctx, s.keep(list, stats, seen))
	return nil
}

// A listing is the names of a workspace's files.
type listing struct {
	walked                  // the files that git lists, if the workspace is in a repository
	repos  []git.Repository // none: the folders were read
	nested map[string]bool
	ids    *git.IDs
	lacks  string // what git cannot do; "" if nothing
	sight  sight  // if it has a watch, some of the folders were watched before anything was looked at
}

// list lists the workspace's files, and looks at those of git's index while git looks for others.
func (s *Snapshot) list(ctx context.Context) (l listing, unusable string) {
	if git.Inside(s.root) {
		lacks := s.guard.Lacks(ctx)
		defer func() { l.lacks = cmp.Or(lacks, l.lacks) }()
		asked, cancel := context.WithTimeout(ctx, s.patience(firstListing))
		var sight sight
		var stats []filestat.Stat
		var names map[int]uint64
		r, err := git.List(asked, s.root, s.guard, func(files []git.Listed) {
			sight = s.watchAll(listing{walked: walked{files: files}})
			stats, names, _ = s.below(ctx, len(files), func(i int) string { return files[i].Path })
		})
		cancel()
		s.took(asked, err)
		if err == nil && len(r.Files) == 0 {
			if ignored, _ := r.All[0].Git.Ignored(ctx, "."); ignored {
				err = fs.ErrNotExist // git ignores this folder
			}
		}
		switch {
		case ctx.Err() != nil:
			return l, "git took too long to list its files"
		case err == nil && len(r.Files) > gitEntries:
			return l, fmt.Sprintf("it has more than %d files", gitEntries)
		case err == nil:
			l := listing{walked: walked{files: s.control(r.Files, r.All)}, repos: r.All, nested: r.Nested, ids: r.IDs, sight: sight}
			if r.Early > 0 {
				l.stats, l.names = stats, names
			}
			return l, ""
		case !errors.Is(err, fs.ErrNotExist):
			lacks = cmp.Or(withoutGit(asked, err), lacks)
		}
	}
	v := s.watchAnew(nil)
	w := walk(ctx, s.root, walking{
		enter: func(dir string) { v.watch.Cover(dir) },
		spool: s.first,
		keeps: func(st filestat.Stat) bool { return !st.Racy(s.began) }, // others are read once more
	})
	w.files = s.control(w.files, nil)
	return listing{walked: w, nested: map[string]bool{}, sight: v}, ""
}

// Bounds of the files whose state leaves open whether they have changed, and that are read here.
const (
	openFiles = 200
	openBytes = 4 << 20
)

// compare asks git which files differ from the index, if their states leave many open, as in a work tree that was copied. If git gives no
// answer, these files are read.
func compare(ctx context.Context, list listing, stats []filestat.Stat) {
	files, bytes := 0, int64(0)
	for i := range list.files {
		if st := stats[i]; st.Exists() && list.files[i].Open(st) {
			files, bytes = files+1, bytes+st.Size
		}
	}
	if files <= openFiles && bytes <= openBytes {
		return
	}
	for _, r := range list.repos {
		_ = r.Compare(ctx, list.files, list.repos)
	}
}

func (s *Snapshot) lstats(ctx context.Context, n int, path func(int) string) ([]filestat.Stat, bool) {
	stats, _, whole := s.below(ctx, n, path)
	return stats, whole
}

// Full returns the absolute name of a path.
func (s *Snapshot) Full(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// keep fills the table, which takes stats over, and returns the files whose contents nothing else keeps.
func (s *Snapshot) keep(list listing, stats []filestat.Stat, seen sight) (unread []git.Listed) {
	long := map[string]bool{}
	var missing []git.Listed
	for i, l := range list.files {
		switch absent := !stats[i].Exists() || stats[i].Mode.IsDir(); {
		case absent && s.tooLong(l, stats[i]):
			long[l.Path] = true
		case absent && l.ID != 0:
			missing = append(missing, l)
		}
	}
	files := states{base: newTable(stats, list.ids, func(i int) string { return list.files[i].Path }, func(i int) (racy bool, oid int32, content spooled) {
		if racy = stats[i].Racy(s.began); !racy && list.files[i].Clean(stats[i]) {
			oid = list.files[i].ID
		}
		if content = nowhere; i < len(list.contents) {
			content = list.contents[i]
		}
		if oid == 0 && content == nowhere {
			unread = append(unread, list.files[i])
		}
		return racy, oid, content
	})}
	dirs, read := s.folders(files.base, list)
	seen.restless = files.base.restless(read)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.called != 0 && !filestat.ChangeTimes {
		return nil
	}
	s.listed, s.lookedAt = true, clock.Now()
	s.repos, s.files, s.nested, s.whole, s.long, s.cut = list.repos, files, list.nested, list.whole, long, list.cut
	s.dirs, s.looked, s.sight = dirs, read, seen
	if list.cut {
		s.short = "some folders could not be listed within the limits"
	}
	if list.lacks != "" {
		s.short = list.lacks
	}
	for dir, there := range list.nested {
		if there {
			s.short = fmt.Sprintf("the repository in %s could not be read", paths.Shown(dir))
		}
	}
	if s.called != 0 && s.shift == nil {
		unread = s.disbelieve(unread)
		s.doubt(list.files, missing)
	}
	return unread
}

// tooLong reports whether a listed path is too long to be looked at.
func (s *Snapshot) tooLong(l git.Listed, st filestat.Stat) bool {
	if l.Long || st.Exists() {
		return l.Long
	}
	_, err := os.Lstat(s.Full(l.Path))
	return errors.Is(err, syscall.ENAMETOOLONG)
}

// readTop notes the entries of the root folder alone.
func (s *Snapshot) readTop() {
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
			s.files.set(e.Name(), &entry{content: nowhere})
		}
	}
}

// TooWide returns the reason why a root, such as a home folder, is too broad for a snapshot; "" if it is not.
func TooWide(root string) string {
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
	if _, inside := paths.Within(root, home); inside || root == home {
		return "it contains the home directory"
	}
	return ""
}
