//go:build !linux

package filestat

import "path/filepath"

// A lookup looks at paths below a folder.
type lookup struct{ root string }

func newLookup(root string) *lookup { return &lookup{root} }

func (*lookup) close() {}

// look is Linked for a path below the root.
func (l *lookup) look(name, _ string) (Stat, uint64) {
	return Linked(l.root + string(filepath.Separator) + filepath.FromSlash(name))
}
