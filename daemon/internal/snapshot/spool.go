package snapshot

import (
	"errors"
	"os"
)

// Bounds of a spool.
const (
	spoolBytes = 64 << 20
	spoolFile  = 2 << 20
)

// A spool keeps contents on disk while a turn runs. Where the system allows it, the file has no name, so that nothing is
// left behind. Only one goroutine at a time may use it.
type spool struct {
	dir  string
	file *os.File // nil until needed
	name string   // of file, if it has one
	size int64
	err  error
}

// A spooled is the place of a content.
type spooled struct {
	at int64
	n  int // -1: nowhere
}

var nowhere = spooled{n: -1}

// put keeps data, if it fits.
func (s *spool) put(data []byte) spooled {
	if len(data) == 0 {
		return spooled{}
	}
	if len(data) > spoolFile || s.size+int64(len(data)) > spoolBytes || s.err != nil {
		return nowhere
	}
	if s.file == nil {
		if s.file, s.err = os.CreateTemp(s.dir, "before-*"); s.err != nil {
			return nowhere
		}
		if os.Remove(s.file.Name()) != nil { // Windows cannot while it is open
			s.name = s.file.Name()
		}
	}
	if _, s.err = s.file.WriteAt(data, s.size); s.err != nil {
		return nowhere
	}
	at := s.size
	s.size += int64(len(data))
	return spooled{at: at, n: len(data)}
}

// get returns a content that put has kept.
func (s *spool) get(c spooled) (data []byte, ok bool) {
	switch {
	case c.n < 0:
		return nil, false
	case c.n == 0:
		return []byte{}, true
	case s.file == nil:
		return nil, false
	}
	data = make([]byte, c.n)
	_, err := s.file.ReadAt(data, c.at)
	return data, err == nil
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		if s.name != "" {
			os.Remove(s.name)
		}
		s.file = nil
	}
	s.err = errors.New("closed")
}
