//go:build !linux

package savewatch

// Folders does nothing on this system.
type Folders struct{}

// WatchFolders returns nil: on this system, watching a folder either needs an open file for each file in it, or has no
// bound.
func WatchFolders([]string, func([]string)) *Folders { return nil }

// Watch does nothing.
func (f *Folders) Watch(string) {}

// Watched returns true: no other folder is watched better here.
func (f *Folders) Watched(string) (is, bounded bool) { return true, false }

// Since returns 0.
func (f *Folders) Since(string, int64) int { return 0 }

// Seen returns 0.
func (f *Folders) Seen() int64 { return 0 }

// Forget does nothing.
func (f *Folders) Forget(string, int64) {}

// Close does nothing.
func (f *Folders) Close() {}
