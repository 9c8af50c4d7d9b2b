package main

import (
	"path/filepath"
)

func (w *World) Meter() string { return filepath.Join(w.Dir, "meter") }
