package daemon

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// resolveRoot returns the absolute path, without symlinks, of a directory given as a path or a file:// URI.
func resolveRoot(path string) (string, error) {
	abs, err := LocalPath(path)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", invalid("workspace", "%s cannot be opened: %v", abs, pathCause(err))
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", invalid("workspace", "%s cannot be opened: %v", abs, pathCause(err))
	}
	if !info.IsDir() {
		return "", invalid("workspace", "%s is not a directory", abs)
	}
	return root, nil
}

// knownRoot is resolveRoot for reading what is stored: the directory may be gone.
func (d *Daemon) knownRoot(path string) (string, error) {
	root, err := resolveRoot(path)
	if err == nil {
		return root, nil
	}
	abs, aerr := LocalPath(path)
	if aerr != nil {
		return "", aerr
	}
	recs, serr := d.store.Workspaces()
	if serr != nil {
		return "", storeError(serr)
	}
	for _, rec := range recs {
		if rec.Root == abs {
			return abs, nil
		}
	}
	return "", err
}

func isFileURI(s string) bool { return len(s) > 5 && strings.EqualFold(s[:6], "file:/") }

// LocalPath returns the absolute path that a path or file:// URI names, however the URI is written: "a b" and "a%20b" are
// the same.
func LocalPath(path string) (string, error) {
	if path == "" {
		return "", invalid("workspace", "is missing")
	}
	if why := TooLong(path); why != "" {
		return "", invalid("workspace", "%s", why)
	}
	if strings.ContainsRune(path, 0) {
		return "", invalid("workspace", "contains a NUL character")
	}
	if isFileURI(path) {
		u, err := url.Parse(path)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" {
			e := invalid("workspace", "%s is not a URI of a local file", path)
			e.Hint = "write it as file:///path, with % and the like as %25"
			return "", e
		}
		path = u.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
		path = filepath.FromSlash(path)
	}
	if !filepath.IsAbs(path) {
		return "", invalid("workspace", "%s is not an absolute path", path)
	}
	return filepath.Clean(path), nil
}

func pathCause(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// FileURI returns the file:// URI of an absolute path. LocalPath takes it back.
func FileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// canonical returns a path that the agent named as review knows it: relative to root, with slashes and without
// symlinks in its directories, or, for a file outside of root, absolute; "" for what is too long to name a file.
func canonical(root, dir, path string) string { return canonicalOf(root, dir, path, true) }

// canonicalOf is canonical, or, without follow, for what acts on a link itself and not on what it points to.
func canonicalOf(root, dir, path string, follow bool) string {
	if path == "" || tooLongIn(dir, path) != "" {
		return ""
	}
	if runtime.GOOS != "windows" && strings.Contains(path, `\`) && !strings.Contains(path, "/") {
		if _, err := os.Lstat(filepath.Join(dir, path)); err != nil {
			path = strings.ReplaceAll(path, `\`, "/")
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = ResolveDirs(filepath.Clean(path))
	if info, err := os.Lstat(path); follow && err == nil && info.Mode()&os.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
	}
	if rel, inside := within(root, path); inside {
		return rel
	}
	return path
}

// ResolveDirs resolves the symlinks of a path's directories, as far as these exist.
func ResolveDirs(path string) string {
	dir, name := filepath.Split(path)
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(resolved, name)
	}
	// What exists is a first part of it; where that ends is halved, so that a deep path costs a few looks.
	first := len(filepath.VolumeName(dir)) + 1
	var ends []int // of the directories, the outermost first
	for i := first; i < len(dir); i++ {
		if os.IsPathSeparator(dir[i]) {
			ends = append(ends, i)
		}
	}
	n := sort.Search(len(ends), func(i int) bool {
		_, err := os.Stat(dir[:ends[i]])
		return err != nil
	})
	for ; n > 0; n-- {
		if resolved, err := filepath.EvalSymlinks(dir[:ends[n-1]]); err == nil {
			return filepath.Join(resolved, path[ends[n-1]:])
		}
	}
	return path
}

// parent is path.Dir for a clean relative path, which it does not clean again: to go up a deep one stays cheap.
func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

// within returns path relative to root, with slashes, if it lies inside.
func within(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// relativePaths returns the paths of a call as clients see them, without asking the disk.
func (w *workspace) relativePaths(paths []string) []string {
	rel, listed := make([]string, 0, len(paths)), make(map[string]bool, len(paths))
	for _, p := range paths {
		if p == "" {
			continue
		}
		if filepath.IsAbs(p) {
			if r, inside := within(w.root, filepath.Clean(p)); inside {
				p = r
			}
		} else {
			p = filepath.ToSlash(filepath.Clean(p))
		}
		if !listed[p] {
			listed[p] = true
			rel = append(rel, p)
		}
	}
	return rel
}

// shown returns a path as it can be told.
func shown(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }
