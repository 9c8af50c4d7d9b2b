//go:build !windows

package helix

import (
	"os"
	"path/filepath"
)

// Helix uses ~/.config on macOS, too.
func usualDir() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config", "helix"), err
}
