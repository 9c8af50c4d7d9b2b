//go:build unix

package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"cursord/daemon/overlay"
	"cursord/sessions"
)

// FolderOf returns the daemon's folder for the copy of a session.
func (w *World) FolderOf(s *sessions.Session) string {
	return filepath.Join(w.Dir, "state", "copies", s.ID)
}

// CopyOf returns the path at which the session's agent works: that of the workspace, if its tree is on an overlay.
func (w *World) CopyOf(s *sessions.Session) string {
	if w.OnOverlay(s) {
		return w.Root
	}
	return filepath.Join(w.FolderOf(s), "ws")
}

// OnOverlay reports whether the session's tree is on an overlay.
func (w *World) OnOverlay(s *sessions.Session) bool {
	_, err := os.Stat(filepath.Join(w.FolderOf(s), "upper"))
	return err == nil
}

// Seen returns a folder that holds what a session's agent sees in its tree. It may be a copy of that.
func (w *World) Seen(s *sessions.Session) string {
	w.T.Helper()
	if !w.OnOverlay(s) {
		return w.CopyOf(s)
	}
	dir := filepath.Join(w.T.TempDir(), "seen")
	run := func(args ...string) {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		require.NoError(w.T, err, "%s: %s", args, out)
	}
	run("cp", "-a", w.Root, dir)
	upper := filepath.Join(w.FolderOf(s), "upper")
	list, err := overlay.Changes(context.Background(), upper)
	require.NoError(w.T, err)
	for _, c := range list {
		from, to := filepath.Join(upper, c.Path), filepath.Join(dir, c.Path)
		if info, err := os.Lstat(to); err == nil && (c.Kind != overlay.Folder || !info.IsDir()) {
			require.NoError(w.T, os.RemoveAll(to))
		}
		switch c.Kind {
		case overlay.Written:
			run("cp", "-a", from, to)
		case overlay.Folder, overlay.Replaced:
			require.NoError(w.T, os.MkdirAll(to, 0o755))
		}
	}
	return dir
}

// Copied reads a file of a session's copy.
func (w *World) Copied(s *sessions.Session, name string) string {
	w.T.Helper()
	b, err := os.ReadFile(filepath.Join(w.Seen(s), filepath.FromSlash(name)))
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
