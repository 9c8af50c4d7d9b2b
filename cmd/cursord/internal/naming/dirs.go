package naming

import (
	"os"
	"path/filepath"

	"cursord/daemon/paths"
)

// HomeDir returns the user's home folder without symlinks; "" if there is none.
func HomeDir() string {
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = ResolveDir(home)
	}
	if err != nil {
		return ""
	}
	return home
}

// ResolveDir returns the absolute path, without symlinks as far as it exists, of a directory given as a path or a
// file:// URI.
func ResolveDir(dir string) (string, error) {
	if paths.IsURI(dir) {
		local, err := paths.Local(dir)
		if err != nil {
			return "", err
		}
		dir = local
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// Owner returns the workspace of a file: the innermost known one that contains it, else the git work tree; "" if there is neither, or if the user has
// named a workspace.
func (n Names) Owner(file string) string {
	path, err := filepath.Abs(file)
	if err != nil || n.Known == nil {
		return ""
	}
	return owner(paths.ResolveDirs(path), HomeDir(), n.Known)
}

func owner(file, home string, known map[string]bool) (tree string) {
	for dir := file; ; dir = filepath.Dir(dir) {
		if known[dir] && (dir == file || !Wide(dir, home)) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && tree == "" {
			tree = dir
		}
		if filepath.Dir(dir) == dir {
			return tree
		}
	}
}
