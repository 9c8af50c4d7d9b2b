package snapshot

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// Bounds of a spool.
const (
	spoolBytes = 64 << 20
	spoolFile  = 2 << 20
	spoolLate  = 256 << 10 // of small contents that are written at once
	spoolBatch = 1 << 20   // of contents that one goroutine adds
	spoolAside = 16 << 20  // of batches that are written later
)

// A spool keeps contents on disk while somebody uses it. If the process is killed, the file stays, for Recorded.Restore.
type spool struct {
	dir string

	mu    sync.Mutex // guards all below
	users int
	file  *os.File // nil until needed
	name  string   // of file
	size  int64
	late  []byte  // the last contents, which are not in the file yet
	aside []batch // others, which are written later, or could not be
	err   error
}

// A spooled is the place of a content.
type spooled struct {
	in *spool
	at int64
	n  int // -1: nowhere
}

// newSpool returns an empty spool with one user.
func newSpool(dir string) *spool { return &spool{dir: dir, users: 1} }

// use adds a user, and returns false if the last one has gone.
func (s *spool) use() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		return false
	}
	s.users++
	return true
}

// path returns the name of the file; "" if there is none, or if it may lack contents.
func (s *spool) path() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return ""
	}
	return s.name
}

// length returns how many bytes it holds.
func (s *spool) length() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

var nowhere = spooled{n: -1}

// put keeps data, if it fits.
func (s *spool) put(data []byte) spooled {
	at := s.add(data)
	if at.n > 0 {
		s.write()
	}
	return at
}

// write writes what add has added.
func (s *spool) write() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.late = nil
}

// flush writes what is late. s.mu must be held.
func (s *spool) flush() {
	if len(s.late) == 0 || s.file == nil {
		return
	}
	if _, s.err = s.file.WriteAt(s.late, s.size-int64(len(s.late))); s.err == nil {
		s.late = s.late[:0]
	}
}

// add is put for one of many contents, after the last of which write is called.
func (s *spool) add(data []byte) spooled {
	if len(data) == 0 {
		return spooled{}
	}
	if s == nil {
		return nowhere
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(data) > spoolFile || !s.fits(len(data)) {
		return nowhere
	}
	at := s.size
	s.size += int64(len(data))
	if s.late = append(s.late, data...); len(s.late) >= spoolLate {
		s.flush()
	}
	return spooled{s, at, len(data)}
}

// fits reports whether n bytes can be added. s.mu must be held.
func (s *spool) fits(n int) bool {
	if s.err != nil || s.size+int64(n) > spoolBytes {
		return false
	}
	if s.file == nil {
		if s.file, s.err = os.CreateTemp(s.dir, "before-*"); s.err != nil {
			return false
		}
		s.name = s.file.Name()
	}
	return true
}

// A batch adds contents to a spool for one goroutine, which waits for no other. Nobody gets them before its end. They are written by
// writeAside, unless there are too many.
type batch struct {
	s   *spool
	at  int64  // where buf goes
	buf []byte // has its whole room from the beginning
}

// batch returns an empty batch; nil for no spool.
func (s *spool) batch() *batch {
	if s == nil {
		return nil
	}
	return &batch{s: s}
}

// add is add of a spool.
func (b *batch) add(data []byte) spooled {
	if len(data) == 0 {
		return spooled{}
	}
	if len(b.buf)+len(data) > cap(b.buf) && !b.next(len(data)) {
		return b.s.add(data)
	}
	at := b.at + int64(len(b.buf))
	b.buf = append(b.buf, data...)
	return spooled{b.s, at, len(data)}
}

// next writes the batch and begins another one; false if there is no room for it, or for n bytes in it.
func (b *batch) next(n int) bool {
	b.end()
	s, buf := b.s, b.buf
	b.buf = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flush(); n > spoolBatch || !s.fits(spoolBatch) {
		return false
	}
	b.at = s.size
	s.size += spoolBatch
	if b.buf = buf; cap(buf) == 0 {
		b.buf = make([]byte, 0, spoolBatch)
	}
	return true
}

// end gives the spool what was added.
func (b *batch) end() {
	if b == nil || len(b.buf) == 0 {
		return
	}
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.aside) < spoolAside/spoolBatch {
		s.aside = append(s.aside, *b)
		b.buf = nil
		return
	}
	file := s.file
	s.mu.Unlock()
	_, err := file.WriteAt(b.buf, b.at)
	s.mu.Lock()
	if err != nil {
		s.err, s.aside = err, append(s.aside, *b)
		b.buf = nil
		return
	}
	b.buf = b.buf[:0]
}

// writeAside writes the batches that have ended.
func (s *spool) writeAside() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.aside) > 0 && s.err == nil {
		b, file := s.aside[0], s.file
		s.mu.Unlock()
		_, err := file.WriteAt(b.buf, b.at)
		s.mu.Lock()
		if err != nil {
			s.err = err
		} else if len(s.aside) > 0 { // it was not closed meanwhile
			s.aside = slices.Delete(s.aside, 0, 1)
		}
	}
}

// get returns a content that put has kept.
func (c spooled) get() (data []byte, ok bool) {
	switch {
	case c.n < 0:
		return nil, false
	case c.n == 0:
		return []byte{}, true
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.in.file == nil {
		return nil, false
	}
	data = make([]byte, c.n)
	if late := c.at - (c.in.size - int64(len(c.in.late))); late >= 0 {
		copy(data, c.in.late[late:])
		return data, true
	}
	for _, b := range c.in.aside {
		if at := c.at - b.at; at >= 0 && at < int64(len(b.buf)) {
			copy(data, b.buf[at:])
			return data, true
		}
	}
	_, err := c.in.file.ReadAt(data, c.at)
	return data, err == nil
}

// close removes a user. The last one frees the contents.
func (s *spool) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	s.users = 0
	if s.file != nil {
		s.file.Close()
		os.Remove(s.name)
		s.file, s.late, s.aside = nil, nil, nil
	}
	s.err = errors.New("closed")
}
