package atomicfile

import (
	"io/fs"
	"strings"
)

// Free has the absolute paths that earlier tried changes would leave without a file.
type Free map[string]bool

// has reports whether a path is free, or whether a folder has one below it.
func (f Free) has(t Root, name string, isFolder bool) bool {
	full := t.root.Name() + "/" + name
	if !isFolder {
		return f[full]
	}
	for p := range f {
		if strings.HasPrefix(p, full+"/") {
			return true
		}
	}
	return false
}

// try returns the error that apply would return because the new path of a change is taken, or nil. It counts the paths in c.Free as free, and
// adds the one that the change leaves.
func (t Root) try(c *Change) error {
	moves := c.From != c.To && c.Before.Exists
	if (moves || !c.Before.Exists && c.After.Exists) && !t.fits(c.To, moves, c.Free) {
		if !moves && t.Read(c.To).Exists {
			return ErrCreated
		}
		return ErrOccupied
	}
	if c.Vacates() {
		c.Free[t.root.Name()+"/"+c.From] = true
	}
	return nil
}

// fits reports whether there is room at a path. A move may go through links to folders.
func (t Root) fits(name string, moves bool, free Free) bool {
	room := true
	eachFolder(t.root, name, func(dir string, info fs.FileInfo, err error) {
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		room = room && (err != nil || info.IsDir() || link && moves || free.has(t, dir, false))
	})
	info, err := t.lstat(name)
	if !room || err != nil || free.has(t, name, false) {
		return room
	}
	_ = fs.WalkDir(t.root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if room = err == nil && (info.IsDir() && p == name || free.has(t, p, d.IsDir())); !room {
			return fs.SkipAll
		}
		return nil
	})
	return room
}
