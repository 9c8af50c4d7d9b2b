package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// A walked is the result of reading a workspace's folders, those nearest to the root first.
type walked struct {
	files []git.Listed    // files and links
	stats []filestat.Stat // of files, as far as a walk has looked at them
	names map[int]uint64  // of files that have more than one, by their indexes
	dirs  []string
	whole map[string]bool // the folders whose entries are all in files and dirs; "." is the root
	cut   bool            // a limit was reached
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

// walk lists a workspace without git.
func walk(ctx context.Context, root string) (w walked) {
	w.whole, w.names = map[string]bool{}, map[int]uint64{}
	r, err := os.OpenRoot(root)
	if err != nil {
		w.cut = true
		return w
	}
	open := 1
	queue := []walkPlace{{dir: ".", from: &foothold{at: r, users: 1}, below: "."}}
	defer func() {
		for _, p := range queue {
			p.from.drop(&open)
		}
	}()
	for entries := 0; len(queue) > 0; {
		p := &queue[0]
		if p.depth >= footholdDepth && open < footholdsMost {
			if at, err := p.from.at.OpenRoot(p.below); err == nil {
				open++
				p.from, p.below, p.depth = &foothold{at: at, users: 1, above: p.from}, ".", 0 // which takes p's place there
			}
		}
		here := *p
		list, err := fs.ReadDir(here.from.at.FS(), here.below)
		if entries += len(list); err == nil && (entries > walkEntries || ctx.Err() != nil) {
			w.cut = true
			return w
		}
		for _, e := range list {
			name := path.Join(here.dir, e.Name())
			switch {
			case err != nil:
			case e.IsDir():
				w.dirs = append(w.dirs, name)
				if !skipped(e.Name()) {
					here.from.users++
					queue = append(queue, walkPlace{name, here.from, path.Join(here.below, e.Name()), here.depth + 1})
				}
			case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
				w.files = append(w.files, git.Listed{Path: name})
				w.stats = append(w.stats, filestat.Stat{})
				if info, err := e.Info(); err == nil { // it has been looked at, because the folder was opened in a root
					st, n := filestat.OfInfo(info)
					if w.stats[len(w.stats)-1] = st; n > 1 && st.Mode.IsRegular() {
						w.names[len(w.stats)-1] = n
					}
				}
			}
		}
		if err == nil {
			w.whole[here.dir] = true
		}
		queue = queue[1:]
		here.from.drop(&open)
	}
	return w
}
