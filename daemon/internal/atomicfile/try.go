package atomicfile

import (
	"io/fs"
	"path"
	"strings"
)

// Tried says what earlier tried changes would leave, by absolute path: true for a file, false for none.
type Tried map[string]bool

// Frees reports whether the changes would leave a path without its file or, of a folder, without one below it.
func (tried Tried) Frees(full string, isFolder bool) bool {
	if !isFolder {
		holds, known := tried[full]
		return known && !holds
	}
	for p, holds := range tried {
		if !holds && strings.HasPrefix(p, full+"/") {
			return true
		}
	}
	return false
}

// takes reports whether the changes would put a file at a path below a root, below that path, or where it needs a folder.
func (tried Tried) takes(root, name string) bool {
	for p, holds := range tried {
		if holds && strings.HasPrefix(p, root+"/"+name+"/") {
			return true
		}
	}
	for ; name != "."; name = path.Dir(name) {
		if tried[root+"/"+name] {
			return true
		}
	}
	return false
}

// full returns the path by which Tried knows a file.
func (t Root) full(name string) string { return t.root.Name() + "/" + name }

// try returns the error that apply would return because the new path of a change is taken, or nil. It counts on what c.Tried says, and adds
// what the change would leave.
func (t Root) try(c *Change) error {
	moves := c.From != c.To && c.Before.Exists
	if (moves || !c.Before.Exists && c.After.Exists) && !t.fits(c.To, moves, c.Tried) {
		if !moves && (c.Tried[t.full(c.To)] || t.Read(c.To).Exists) {
			return ErrCreated
		}
		return ErrOccupied
	}
	if c.Vacates() {
		c.Tried[t.full(c.From)] = false
	}
	if c.After.Exists {
		c.Tried[t.full(c.To)] = true
	}
	return nil
}

// fits reports whether there is room at a path. A move may go through links to folders.
func (t Root) fits(name string, moves bool, tried Tried) bool {
	room := !tried.takes(t.root.Name(), name)
	eachFolder(t.root, name, func(dir string, info fs.FileInfo, err error) {
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		room = room && (err != nil || info.IsDir() || link && moves || tried.Frees(t.full(dir), false))
	})
	info, err := t.lstat(name)
	if !room || err != nil || tried.Frees(t.full(name), false) {
		return room
	}
	_ = fs.WalkDir(t.root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if room = err == nil && (info.IsDir() && p == name || tried.Frees(t.full(p), d.IsDir())); !room {
			return fs.SkipAll
		}
		return nil
	})
	return room
}
