package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAReadIsOfOneMoment reads a file while it is rewritten again and again: no read mixes an old state with a new one.
func TestAReadIsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	texts := []string{strings.Repeat("a", 3000), strings.Repeat("b", 3017)}
	require.NoError(t, os.WriteFile(name, []byte(texts[0]), 0o644))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(name, []byte(texts[i%2]), 0o644)
			}
		}
	}()
	for range 20_000 {
		data := Read(dir, "f").Data
		if bytes.Contains(data, []byte("a")) && bytes.Contains(data, []byte("b")) {
			t.Errorf("%d bytes of two moments", len(data))
			break
		}
	}
	close(stop)
	<-stopped
}
