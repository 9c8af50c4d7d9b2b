//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// savers are the ways to save a file. Each gets the number of its earlier saves, and returns its latest text.
var savers = map[string]func(path string, n int) error{
	"append": func(path string, n int) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, "saved %d\n", n)
		return errors.Join(err, f.Close())
	},
	"truncate": func(path string, n int) error {
		return os.WriteFile(path, fmt.Appendf(nil, "saved %d\n", n), 0o644)
	},
	"rename": func(path string, n int) error {
		if err := os.WriteFile(path+"~", fmt.Appendf(nil, "saved %d\n", n), 0o644); err != nil {
			return err
		}
		return os.Rename(path+"~", path)
	},
}

// TestSavesBesideReplacements: a person saves a file as fast as possible while it is replaced again and again. The latest
// save is there, and every appended line.
func TestSavesBesideReplacements(t *testing.T) {
	for name, save := range savers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name == "append" {
				f, err := os.Create(filepath.Join(dir, "lease"))
				require.NoError(t, err)
				lease := leaseAlone(f)
				require.NoError(t, f.Close())
				require.NoError(t, os.Remove(f.Name()))
				if lease != nil {
					t.Skip("there are no leases here")
				}
			}
			path := filepath.Join(dir, "f")
			put(t, dir, "f", diffs.Content{Exists: true, Data: []byte("start\n"), Mode: 0o644})
			saves := 1000
			if name == "append" {
				saves = 40000 // appends are fast
			}
			saved := make(chan error, 1)
			go func() {
				for n := 1; n <= saves; n++ {
					if err := save(path, n); err != nil {
						saved <- err
						return
					}
				}
				saved <- nil
			}()
			w := in(t, dir)
			replaced, conflicts := 0, 0
			for ended := false; !ended; {
				select {
				case err := <-saved:
					require.NoError(t, err)
					ended = true
				default:
				}
				now := Read(dir, "f")
				require.Empty(t, now.Unreadable)
				after := now.Content
				var ours bool
				if after.Data, ours = bytes.CutPrefix(now.Data, []byte("ours\n")); !ours {
					after.Data = append([]byte("ours\n"), now.Data...)
				}
				if err := w.Carry(changing(now.Content, after)); err == nil {
					replaced++
				} else {
					require.ErrorIs(t, err, ErrChanged)
					conflicts++
				}
			}
			t.Log(replaced, "replaced,", conflicts, "conflicts")
			require.NotZero(t, replaced)
			lines := map[string]int{}
			for line := range strings.Lines(string(Read(dir, "f").Data)) {
				lines[line]++
			}
			first := saves
			if name == "append" {
				first = 1
			}
			for n := first; n <= saves; n++ {
				require.Equal(t, 1, lines[fmt.Sprintf("saved %d\n", n)], "save %d", n)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}
