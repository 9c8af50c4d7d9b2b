package daemon

import (
	"context"
	"io/fs"
	"os"
	"path"
)

// A walked is what reading a workspace's folders gave, those nearest the root first.
type walked struct {
	files []listed // files and links
	dirs  []string
	whole map[string]bool // the folders whose entries are all in files and dirs; "." is the root
	cut   bool            // a limit was reached
}

// skipped names folders that hold what programs keep for themselves.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "CVS", "node_modules":
		return true
	}
	return false
}

// walk lists a workspace that git knows nothing about.
func walk(ctx context.Context, root string) (w walked) {
	w.whole = map[string]bool{}
	r, err := os.OpenRoot(root)
	if err != nil {
		w.cut = true
		return w
	}
	defer r.Close()
	entries := 0
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		list, err := fs.ReadDir(r.FS(), dir)
		if err != nil {
			continue
		}
		if entries += len(list); entries > walkEntries || ctx.Err() != nil {
			w.cut = true
			return w
		}
		for _, e := range list {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				w.dirs = append(w.dirs, name)
				if !skipped(e.Name()) {
					queue = append(queue, name)
				}
			case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
				w.files = append(w.files, listed{path: name})
			}
		}
		w.whole[dir] = true
	}
	return w
}
