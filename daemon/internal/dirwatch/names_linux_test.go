package dirwatch

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamesByTwoPaths: the system watches a folder once, and names what is in it by one path.
func TestNamesByTwoPaths(t *testing.T) {
	dir := t.TempDir()
	other := "/proc/self/root" + dir
	a, b := openNames(t), openNames(t)
	require.NoError(t, a.Add(dir))
	require.NoError(t, b.Add(other))
	write(t, filepath.Join(dir, "f"))
	until(t, a, filepath.Join(dir, "f"))
	until(t, b, filepath.Join(other, "f"))
	a.Close()
	write(t, filepath.Join(dir, "g"))
	until(t, b, filepath.Join(other, "g"))
}
