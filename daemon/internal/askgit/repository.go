package askgit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/filestat"
)

// A Repository is git's folder and its work tree.
type Repository struct {
	Dir string // git's folder for this work tree
	Top string // the top of the work tree
}

// Bounds of the files of a repository that are read here.
const (
	configBytes = 1 << 20
	rulesBytes  = 8 << 20 // exclude, attributes
	linkBytes   = 64 << 10
)

// Find returns the repository whose work tree contains a folder, judged by names: the nearest one at or above the folder.
func Find(folder string) (Repository, bool) {
	for {
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			if r, ok := At(folder); ok || r.Dir != "" {
				return r, ok
			}
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return Repository{}, false
		}
		folder = parent
	}
}

// At returns the repository whose work tree has a folder as its top. If there is none, Dir says whether something is
// there in its place that leads elsewhere.
func At(folder string) (Repository, bool) {
	r := Repository{Top: folder}
	name := filepath.Join(folder, ".git")
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		if !isGitDir(name) {
			return r, false
		}
		r.Dir = name
		return r, true
	case err == nil && !info.Mode().IsRegular():
		return r, false
	}
	r.Dir = name
	line, err := readFile(name, linkBytes)
	to, ok := strings.CutPrefix(strings.TrimRight(string(line), "\r\n"), "gitdir: ")
	if err != nil || !ok {
		return r, false
	}
	r.Dir = absolute(folder, to)
	return r, isGitDir(r.Dir)
}

// isGitDir reports whether a folder has the files by which git recognises its own folder.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "objects"))
	if err != nil {
		_, err = os.Stat(filepath.Join(dir, "commondir"))
	}
	return err == nil
}

// Common returns the folder that the repository shares with its other work trees.
func (r Repository) Common() (string, error) {
	line, err := readFile(filepath.Join(r.Dir, "commondir"), linkBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.Dir, nil
	case err != nil:
		return "", err
	}
	return absolute(r.Dir, strings.TrimRight(string(line), "\r\n")), nil
}

func absolute(base, p string) string {
	if p = filepath.FromSlash(p); !filepath.IsAbs(p) {
		p = filepath.Join(base, p)
	}
	return filepath.Clean(p)
}

// readFile reads a regular file of at most most bytes; the error for a missing file is fs.ErrNotExist.
func readFile(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(name, info, most); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// readRules is readFile for a file that may be missing.
func readRules(name string) ([]byte, error) {
	data, err := readFile(name, rulesBytes)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return data, err
}
