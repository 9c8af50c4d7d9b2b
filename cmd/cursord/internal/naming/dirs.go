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
