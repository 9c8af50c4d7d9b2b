package snapshot

import (
	"context"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// A walked is the result of reading a workspace's folders, those nearest to the root first.
type walked struct {
	files    []git.Listed    // files and links
	stats    []filestat.Stat // of files, as far as a walk has looked at them
	contents []spooled       // likewise
	names    map[int]uint64  // of files that have more than one, by their indexes
	dirs     []string
	whole    map[string]bool // the folders whose entries are all in files and dirs; "." is the root
	cut      bool            // a limit was reached
}

// skipped reports whether a folder, by its name, has only data of programs.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "CVS", "node_modules":
		return true
	}
	return false
}

// A foothold is a folder that is kept open during a walk. Folders below it are opened from there, because opening one from
// the root takes a step for each folder above it.
type foothold struct {
	at    *os.Root
	users int // queued folders, and footholds, that are opened from here
	above *foothold
}

// Bounds of footholds.
const (
	footholdDepth = 32 // how many folders lie between two of them
	footholdsMost = 64 // how many are open at a time
)

// drop counts down when a folder opened from here has been read, or a foothold opened from here has been closed.
func (f *foothold) drop(open *int) {
	for ; f != nil; f = f.above {
		if f.users--; f.users > 0 {
			return
		}
		f.at.Close()
		*open--
	}
}

// A walkPlace is a folder that is still to be read.
type walkPlace struct {
	dir   string // from the root
	from  *foothold
	below string // from the foothold
	depth int    // of below
}

// Bounds of a walk.
const (
	walkedAtOnce = 64       // folders that are read before the limits are looked at again
	walkedFile   = 64 << 10 // bytes of a file that is read on the way
)

// A walking says what is done on the way.
type walking struct {
	enter func(dir string)            // before a folder is read; may be nil
	spool *spool                      // for contents; nil: none are read
	keeps func(st filestat.Stat) bool // whether the content of a file is kept
}

// A walker reads folders, one at a time.
type walker struct {
	walking
	files *atomicfile.Reader
	batch *batch
}

// A walkedFolder is what is in a folder.
type walkedFolder struct {
	list     []atomicfile.Entry // without data
	contents []spooled          // of list
	err      error
}

// walk lists a workspace without git.
func walk(ctx context.Context, root string, do walking) (w walked) {
	w.whole, w.names = map[string]bool{}, map[int]uint64{}
	r, err := os.OpenRoot(root)
	if err != nil {
		w.cut = true
		return w
	}
	open := 1
	queue := []walkPlace{{dir: ".", from: &foothold{at: r, users: 1}, below: "."}}
	var readers []*walker
	defer func() {
		for _, p := range queue {
			p.from.drop(&open)
		}
		for _, one := range readers {
			one.files.Close()
			one.batch.end()
		}
	}()
	for range min(runtime.GOMAXPROCS(0), 8) {
		if one, err := atomicfile.NewReader(root); err == nil {
			readers = append(readers, &walker{walking: do, files: one, batch: do.spool.batch()})
		}
	}
	if len(readers) == 0 {
		w.cut = true
		return w
	}
	var some []walkPlace // that are being read, or were
	var read []walkedFolder
	defer func() {
		for _, p := range some {
			p.from.drop(&open)
		}
	}()
	for entries := 0; len(queue)+len(some) > 0; {
		next := queue[:min(len(queue), walkedAtOnce)]
		for i := range next {
			p := &next[i]
			if p.depth >= footholdDepth && open < footholdsMost {
				if at, err := p.from.at.OpenRoot(p.below); err == nil {
					open++
					p.from, p.below, p.depth = &foothold{at: at, users: 1, above: p.from}, ".", 0 // which takes p's place there
				}
			}
		}
		reading := make([]walkedFolder, len(next))
		var number atomic.Int64
		var all sync.WaitGroup
		for _, one := range readers[:min(len(readers), len(next))] {
			all.Go(func() {
				for i := number.Add(1) - 1; int(i) < len(next) && ctx.Err() == nil; i = number.Add(1) - 1 {
					reading[i] = one.read(&next[i])
				}
			})
		}
		for i, f := range read { // what is in them is put together meanwhile
			here := some[0]
			if entries += len(f.list); f.err == nil && (entries > walkEntries || ctx.Err() != nil) {
				w.cut = true
				break
			}
			for at, e := range f.list {
				switch name := inFolder(here.dir, e.Name); {
				case f.err != nil:
				case e.Dir:
					w.dirs = append(w.dirs, name)
					if !skipped(e.Name) {
						here.from.users++
						queue = append(queue, walkPlace{name, here.from, inFolder(here.below, e.Name), here.depth + 1})
					}
				case e.Stat.Mode.IsRegular() || e.Stat.Mode&fs.ModeSymlink != 0:
					w.files, w.stats, w.contents = append(room(w.files), git.Listed{Path: name}), append(room(w.stats), e.Stat), append(room(w.contents), f.contents[at])
					if e.Names > 1 && e.Stat.Mode.IsRegular() {
						w.names[len(w.stats)-1] = e.Names
					}
				}
			}
			if f.err == nil {
				w.whole[here.dir] = true
			}
			read[i] = walkedFolder{}
			some = some[1:]
			here.from.drop(&open)
		}
		all.Wait()
		if w.cut {
			return w
		}
		queue, some, read = queue[len(next):], next, reading
	}
	return w
}

// inFolder returns the path of a name in a folder.
func inFolder(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// room doubles the room of a list that is full: append alone would copy a long list many times.
func room[T any](list []T) []T {
	if len(list) == cap(list) {
		return slices.Grow(list, max(64, len(list)))
	}
	return list
}

// read reads a folder.
func (w *walker) read(p *walkPlace) (f walkedFolder) {
	most := int64(0)
	if w.batch != nil {
		most = walkedFile
	}
	if w.enter != nil {
		w.enter(p.dir)
	}
	f.list, f.contents = make([]atomicfile.Entry, 0, 64), make([]spooled, 0, 64)
	add := func(e atomicfile.Entry) {
		content := nowhere
		if e.Data != nil && w.batch != nil && w.keeps(e.Stat) {
			content = w.batch.add(e.Data)
		}
		e.Data = nil
		f.list, f.contents = append(f.list, e), append(f.contents, content)
	}
	if w.files.Folder(p.dir, most, add) {
		return f
	}
	f = walkedFolder{}
	list, err := fs.ReadDir(p.from.at.FS(), p.below)
	f.err = err
	for _, e := range list {
		one := atomicfile.Entry{Name: e.Name(), Dir: e.IsDir()}
		if info, err := e.Info(); err == nil && !one.Dir { // it has been looked at, because the folder was opened in a root
			one.Stat, one.Names = filestat.OfInfo(info)
		}
		add(one)
	}
	return f
}
