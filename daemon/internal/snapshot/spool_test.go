package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatches: what goroutines add beside each other is got as it was, before it is written, afterwards, and if it cannot be.
func TestBatches(t *testing.T) {
	for name, broken := range map[string]bool{"written": false, "not to be written": true} {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t.TempDir())
			defer s.close()
			first := s.put([]byte("first"))
			content := func(of, i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%d:%d\n", of, i), i%5000) }
			const each = 400
			var got [4][each]spooled
			var all sync.WaitGroup
			for of := range got {
				all.Go(func() {
					b := s.batch()
					defer b.end()
					for i := range each {
						got[of][i] = b.add(content(of, i))
					}
				})
			}
			all.Wait()
			last := s.put([]byte("last"))
			check := func() {
				t.Helper()
				data, ok := first.get()
				require.True(t, ok)
				require.Equal(t, "first", string(data))
				for of := range got {
					for i, at := range got[of] {
						data, ok := at.get()
						require.True(t, ok)
						require.True(t, bytes.Equal(content(of, i), data), "%d %d", of, i)
					}
				}
				data, ok = last.get()
				require.True(t, ok)
				require.Equal(t, "last", string(data))
			}
			require.NotEmpty(t, s.aside)
			check()
			if !broken {
				s.writeAside()
				require.Empty(t, s.aside)
				require.NotEmpty(t, s.path())
				check()
				return
			}
			file := s.file
			s.file, _ = os.Open(s.name) // only to be read
			defer file.Close()
			s.writeAside()
			require.NotEmpty(t, s.aside)
			require.Error(t, s.err)
			require.Empty(t, s.path(), "a daemon that starts after a kill would read what was never written")
			check()
		})
	}
}

// TestBatchesAreBounded: few batches wait in memory, the others are written at once; and a spool keeps no more than its bound.
func TestBatchesAreBounded(t *testing.T) {
	s := newSpool(t.TempDir())
	b := s.batch()
	data := bytes.Repeat([]byte("0123456789abcdef"), walkedFile/16)
	var kept []spooled
	for range spoolBytes/walkedFile + 10 {
		if at := b.add(data); at != nowhere {
			kept = append(kept, at)
		}
	}
	b.end()
	require.Len(t, s.aside, spoolAside/spoolBatch)
	require.Len(t, kept, spoolBytes/walkedFile)
	require.Equal(t, nowhere, s.batch().add(data))
	require.Equal(t, spooled{}, b.add(nil))
	for _, at := range []spooled{kept[0], kept[len(kept)-1]} {
		got, ok := at.get()
		require.True(t, ok)
		require.True(t, bytes.Equal(data, got))
	}
	s.close()
	s.writeAside()
	_, ok := kept[0].get()
	require.False(t, ok)
	require.Nil(t, (*spool)(nil).batch())
	(*spool)(nil).batch().end()
	(*spool)(nil).writeAside()
}

// TestLargeContentsInBatches: a content that is larger than a batch is kept beside it.
func TestLargeContentsInBatches(t *testing.T) {
	s := newSpool(t.TempDir())
	defer s.close()
	b := s.batch()
	small, large := b.add([]byte("small")), b.add(bytes.Repeat([]byte("l"), spoolBatch+1))
	after := b.add([]byte("after"))
	b.end()
	for at, want := range map[spooled]int{small: 5, large: spoolBatch + 1, after: 5} {
		data, ok := at.get()
		require.True(t, ok)
		require.Len(t, data, want)
	}
}
