// Package paths answers questions about a path with nothing but the path and the file system: whether a text can be a path,
// its URI, and its name in review. It has no state. Every path and file:// URI from clients, agents and the environment goes
// through it.
package paths

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// An Error says why a text is not a path.
type Error struct {
	Problem string // begins in the middle of a sentence: "is missing"
	Hint    string // what to do, or ""
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + ": " + e.Hint
}

// IsURI reports whether a text is a file: URI.
func IsURI(s string) bool { return len(s) > 5 && strings.EqualFold(s[:6], "file:/") }

// Local returns the absolute path for a path or file:// URI, however the URI is written: "a b" and "a%20b" are the same. It
// does not read the disk. Its errors are *Error.
func Local(path string) (string, error) {
	if path == "" {
		return "", &Error{Problem: "is missing"}
	}
	if why := TooLong(path); why != "" {
		return "", &Error{Problem: why}
	}
	if strings.ContainsRune(path, 0) {
		return "", &Error{Problem: "contains a NUL character"}
	}
	if IsURI(path) {
		u, err := url.Parse(path)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" {
			return "", &Error{path + " is not a URI of a local file", "write it as file:///path, with % and the like as %25"}
		}
		path = u.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
		path = filepath.FromSlash(path)
	}
	if !filepath.IsAbs(path) {
		return "", &Error{Problem: path + " is not an absolute path"}
	}
	return filepath.Clean(path), nil
}

// URI returns the file:// URI of an absolute path; Local is its inverse.
func URI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Canonical returns review's name for a path that the agent named: relative to root, with slashes and with the symlinks of
// its directories resolved; or absolute, for a file outside of root; or "" if it is too long for a path.
func Canonical(root, dir, path string) string { return CanonicalOf(root, dir, path, true) }

// CanonicalOf is Canonical. Without follow it is for an action on a link itself.
func CanonicalOf(root, dir, path string, follow bool) string {
	if path == "" || TooLongIn(dir, path) != "" {
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
	if rel, inside := Within(root, path); inside {
		return rel
	}
	return path
}

// Absolute is the inverse of Canonical: it returns the absolute path of a file by its name in review. It does not read the
// disk.
func Absolute(root, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, name)
}

// ResolveDirs resolves the symlinks of a path's directories, as far as these exist.
func ResolveDirs(path string) string {
	dir, name := filepath.Split(path)
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(resolved, name)
	}
	// The existing directories are a first part of the path; a binary search for its end keeps a deep path cheap.
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

// Parent is path.Dir for a clean relative path. It does not clean the path again, which keeps walking up a deep one cheap.
func Parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

// Within returns path relative to root, with slashes, if it lies inside root. Both must be clean.
func Within(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Shown returns a path, or another text from the disk, in a form that can be sent: bytes that are not UTF-8 are replaced.
func Shown(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }

// Cause returns an error that names a path without its operation and path; other errors unchanged.
func Cause(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// Rebase returns an absolute path below the folder from as the same path below the folder to, and other paths unchanged.
func Rebase(path, from, to string) string {
	if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return to + rest
	}
	return path
}
