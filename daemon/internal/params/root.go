package params

import (
	"os"
	"path/filepath"

	"cursord/daemon/api"
	"cursord/daemon/paths"
)

// Root returns the absolute path, without symlinks, of a directory given as a path or a file:// URI.
func Root(path string) (string, error) {
	abs, err := api.LocalPath("workspace", path)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", api.Invalid("workspace", "%s cannot be opened: %v", abs, paths.Cause(err))
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", api.Invalid("workspace", "%s cannot be opened: %v", abs, paths.Cause(err))
	}
	if !info.IsDir() {
		return "", api.Invalid("workspace", "%s is not a directory", abs)
	}
	return root, nil
}
