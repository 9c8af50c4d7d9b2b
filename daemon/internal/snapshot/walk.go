package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path"
	"runtime"
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

// A walking says what is done on the way; each may be nil.
type walking struct {
	enter func(dir string)                                // before a folder is read
	found func(st filestat.Stat, data []byte) (_ spooled) // for each file that was read
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
	var readers []*atomicfile.Reader
	defer func() {
		for _, p := range queue {
			p.from.drop(&open)
		}
		for _, one := range readers {
			one.Close()
		}
	}()
	for range min(runtime.GOMAXPROCS(0), 8) {
		if one, err := atomicfile.NewReader(root); err == nil {
			readers = append(readers, one)
		}
	}
	for entries := 0; len(queue) > 0; {
		some := queue[:min(len(queue), walkedAtOnce)]
		for i := range some {
			p := &some[i]
			if p.depth >= footholdDepth && open < footholdsMost {
				if at, err := p.from.at.OpenRoot(p.below); err == nil {
					open++
					p.from, p.below, p.depth = &foothold{at: at, users: 1, above: p.from}, ".", 0 // which takes p's place there
				}
			}
		}
		read := make([]walkedFolder, len(some))
		var next atomic.Int64
		var all sync.WaitGroup
		for _, one := range readers[:min(len(readers), len(some))] {
			all.Go(func() {
				for i := next.Add(1) - 1; int(i) < len(some) && ctx.Err() == nil; i = next.Add(1) - 1 {
					read[i] = some[i].read(one, do)
				}
			})
		}
		all.Wait()
		for i, f := range read {
			here := some[i]
			if entries += len(f.list); f.err == nil && (entries > walkEntries || ctx.Err() != nil) || len(readers) == 0 {
				w.cut = true
				return w
			}
			for at, e := range f.list {
				switch name := path.Join(here.dir, e.Name); {
				case f.err != nil:
				case e.Dir:
					w.dirs = append(w.dirs, name)
					if !skipped(e.Name) {
						here.from.users++
						queue = append(queue, walkPlace{name, here.from, path.Join(here.below, e.Name), here.depth + 1})
					}
				case e.Stat.Mode.IsRegular() || e.Stat.Mode&fs.ModeSymlink != 0:
					w.files, w.stats, w.contents = append(w.files, git.Listed{Path: name}), append(w.stats, e.Stat), append(w.contents, f.contents[at])
					if e.Names > 1 && e.Stat.Mode.IsRegular() {
						w.names[len(w.stats)-1] = e.Names
					}
				}
			}
			if f.err == nil {
				w.whole[here.dir] = true
			}
			queue = queue[1:]
			here.from.drop(&open)
		}
	}
	return w
}

// read reads the folder.
func (p *walkPlace) read(r *atomicfile.Reader, do walking) (f walkedFolder) {
	most := int64(0)
	if do.found != nil {
		most = walkedFile
	}
	if do.enter != nil {
		do.enter(p.dir)
	}
	f.list, f.contents = make([]atomicfile.Entry, 0, 64), make([]spooled, 0, 64)
	add := func(e atomicfile.Entry) {
		content := nowhere
		if e.Data != nil && do.found != nil {
			content = do.found(e.Stat, e.Data)
		}
		e.Data = nil
		f.list, f.contents = append(f.list, e), append(f.contents, content)
	}
	if r.Folder(p.dir, most, add) {
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
