//go:build !windows

package helix

import (
	"os"
	"path/filepath"
)

// On macOS too Helix uses ~/.config.
func usualDir() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config", "helix"), err
}
