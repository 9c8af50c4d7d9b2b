package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAReadIsOfOneMoment reads a file while it is rewritten: no read mixes the old state with the new one. One that is rewritten
// faster than it is read could be read mixed in all tries.
func TestAReadIsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	texts := []string{strings.Repeat("a", 3000), strings.Repeat("b", 3017)}
	require.NoError(t, os.WriteFile(name, []byte(texts[0]), 0o644))
	write, written := make(chan string), make(chan error)
	go func() {
		for text := range write {
			written <- os.WriteFile(name, []byte(text), 0o644)
		}
	}()
	defer close(write)
	for i := range 2_000 {
		write <- texts[(i+1)%2]
		data := Read(dir, "f").Data
		require.NoError(t, <-written)
		if bytes.Contains(data, []byte("a")) && bytes.Contains(data, []byte("b")) {
			t.Errorf("%d bytes of two moments", len(data))
			break
		}
	}
}
