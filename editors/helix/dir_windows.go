package helix

import (
	"os"
	"path/filepath"
)

func usualDir() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "helix"), err
}
