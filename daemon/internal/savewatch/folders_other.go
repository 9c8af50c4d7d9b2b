//go:build !linux

package savewatch

// Folders tells of saves of whatever file in some folders, on Linux.
type Folders struct{}

// WatchFolders returns nil: to watch a folder takes an open file for each that is in it, or has no bound.
func WatchFolders([]string, func([]string)) *Folders { return nil }

// Close does nothing.
func (f *Folders) Close() {}
