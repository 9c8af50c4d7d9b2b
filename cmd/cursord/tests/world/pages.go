//go:build unix

package world

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// ReadPage returns a page of the project's, named from its top folder.
func ReadPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(Top(filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}
