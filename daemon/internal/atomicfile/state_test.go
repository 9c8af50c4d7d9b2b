package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
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

// TestNoFileIsBeyondALink: a folder of the path is a link, as where an agent has replaced a folder. The file there has another
// path, so it is not read by this one, and nothing is written there.
func TestNoFileIsBeyondALink(t *testing.T) {
	dir := t.TempDir()
	held := diffs.Content{Exists: true, Data: []byte("g\n"), Mode: 0o644}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "d", "in"), 0o755))
	put(t, dir, "d/g", held)
	put(t, dir, "d/in/h", held)
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	r, err := NewReader(dir)
	require.NoError(t, err)
	defer r.Close()
	for _, name := range []string{"l/g", "l/in/h"} {
		require.Equal(t, State{}, Read(dir, name), name)
		require.Equal(t, State{}, r.Read(name), name)
		require.NoError(t, r.Unknown(name), name)
		c := &Change{To: name, From: name, Temp: TempName(name), Before: State{Content: held}, After: diffs.Content{Exists: true, Data: []byte("other\n"), Mode: 0o644}}
		require.Error(t, in(t, dir).Carry(c), name)
	}
	require.ErrorIs(t, in(t, dir).Carry(&Change{From: "l/new", To: "l/new", Temp: TempName("l/new"), After: held}), ErrOccupied)
	require.True(t, Read(dir, "d/g").Same(State{Content: held}))
	require.True(t, Read(dir, "d/in/h").Same(State{Content: held}))
	require.NoFileExists(t, filepath.Join(dir, "d", "new"))
}
