//go:build !linux

package watch

import "cursord/daemon/internal/dirwatch"

// A folders watches folders for a Files.
type folders struct{ *dirwatch.Handle }

func watchFolders() (*folders, error) {
	h, err := dirwatch.Open()
	return &folders{h}, err
}

func (f *folders) add(dir string) error { return f.Add(dir) }

func (f *folders) remove(dir string) { f.Remove(dir) }

func (f *folders) take() (names []string, lost bool) { return f.Take() }
