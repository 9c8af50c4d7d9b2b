package sessions

import (
	"fmt"
	"path/filepath"
)

// spareRoom is left on a disk for those who work meanwhile.
const spareRoom = 4 << 20

// room returns ErrNoSpace where a folder's disk does not have that many bytes: to fill it would have commits fail until
// somebody makes room.
func (s *Store) room(dir string, bytes int64) error {
	free, known := s.set.free(dir)
	if !known || free >= bytes+spareRoom {
		return nil
	}
	return fmt.Errorf("%w: about %d MB are needed and %d MB are free", ErrNoSpace, (bytes+spareRoom)>>20+1, free>>20)
}

// Room returns ErrNoSpace if that many bytes more could fill the database's disk. What the file has free does not count:
// it may be a hole.
func (s *Store) Room(bytes int64) error { return s.room(filepath.Dir(s.path), bytes) }

// copyRoom is room for a copy of the database.
func (s *Store) copyRoom(dir string) error {
	use, err := s.DiskUse()
	if err != nil {
		return err
	}
	return s.room(dir, use.Bytes-use.Free)
}
