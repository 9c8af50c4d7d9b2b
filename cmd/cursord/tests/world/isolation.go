//go:build unix

package world

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// CopyOf returns the folder in which the session's agent works.
func (w *World) CopyOf(s *sessions.Session) string {
	return filepath.Join(w.Dir, "state", "copies", s.ID, "ws")
}

// Copied reads a file of a session's copy.
func (w *World) Copied(s *sessions.Session, name string) string {
	w.T.Helper()
	b, err := os.ReadFile(filepath.Join(w.CopyOf(s), filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return "(absent)"
	}
	require.NoError(w.T, err)
	return string(b)
}

// Whole lists the content of a folder: files with their modes, links with their targets, folders.
func (w *World) Whole(dir string) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	require.NoError(w.T, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all[rel] = "folder"
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[rel] = "-> " + target
			return err
		default:
			b, err := os.ReadFile(path)
			all[rel] = fmt.Sprint(info.Mode(), " ", string(b))
			return err
		}
		return nil
	}))
	return all
}
