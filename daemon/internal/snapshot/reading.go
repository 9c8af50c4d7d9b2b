package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// readContents keeps the contents that git does not have, first those of files that git knows.
func (s *Snapshot) readContents(ctx context.Context, list []git.Listed) {
	defer s.first.write()
	var late atomic.Int64
	for _, known := range []bool{true, false} {
		var want []string
		s.mu.Lock()
		for _, l := range list {
			if (l.ID != 0) == known && s.files.unread(l.Path) && s.files.get(l.Path).Size <= spoolFile {
				want = append(want, l.Path)
			}
		}
		s.mu.Unlock()
		next := make(chan []string)
		var readers sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), 8) {
			readers.Go(func() {
				for names := range next {
					late.Add(s.readSome(ctx, names))
				}
			})
		}
		for names := range slices.Chunk(want, 256) {
			next <- names
		}
		close(next)
		readers.Wait()
	}
	if n := late.Load(); n > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.short = cmp.Or(s.short, fmt.Sprintf("the content of %d of its files could not be read in time", n))
	}
}

// readSome keeps the contents of some files, and returns the number of files for which there was no time.
func (s *Snapshot) readSome(ctx context.Context, names []string) (late int64) {
	r, err := atomicfile.NewReader(s.root)
	if err != nil {
		return 0
	}
	defer r.Close()
	for i, name := range names {
		if ctx.Err() != nil {
			return int64(len(names) - i)
		}
		s.mu.Lock()
		var st filestat.Stat
		if e := s.files.get(name); e != nil {
			st = e.Stat
		}
		s.mu.Unlock()
		var img atomicfile.State
		if data, ok := r.ReadUnchanged(name, st); ok {
			img.Content = atomicfile.ContentOf(st.Mode, data)
		} else {
			st, img = s.read(r, name)
		}
		s.mu.Lock()
		s.lookedAt = clock.Now()
		if !s.sure(st) {
			late++
			s.mu.Unlock()
			continue
		}
		content := nowhere
		if img.Unreadable == "" && img.Exists && s.files.has(name) {
			content = s.first.add(img.Bytes())
		}
		s.files.read(name, st, st.Racy(s.began), content)
		s.mu.Unlock()
	}
	return late
}

// read returns the content of a path, and the path's state with this content.
func (s *Snapshot) read(r *atomicfile.Reader, name string) (filestat.Stat, atomicfile.State) {
	before := filestat.Of(s.Full(name))
	for try := 0; ; try++ {
		img := r.Read(name)
		after := filestat.Of(s.Full(name))
		if before == after || try == 2 {
			return after, img
		}
		before = after
	}
}
