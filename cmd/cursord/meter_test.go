package main

import (
	"path/filepath"
)

func (w *world) meter() string { return filepath.Join(w.dir, "meter") }
