//go:build !linux

package treewatch

// A Watch watches nothing on this system, where watching a folder takes an open file for each file in it, or tells of no change of a file.
type Watch struct{}

// New returns nil: there can be no Watch.
func New(string) *Watch { return nil }

// Close ends the watch.
func (*Watch) Close() {}

// Cover returns false: the folder cannot be watched.
func (*Watch) Cover(string) bool { return false }

// Covers returns whether a folder is watched.
func (*Watch) Covers(string) bool { return false }

// Touch notes that a path may have changed.
func (*Watch) Touch(string) {}

// Since returns false: it knows nothing.
func (*Watch) Since(Mark) (changed []string, now Mark, ok bool) { return nil, 0, false }
