package sessions

import (
	"fmt"
	"path/filepath"
)

// spareRoom is left free on a disk for other programs, in bytes.
const spareRoom = 4 << 20

// room returns ErrNoSpace if a folder's disk does not have that many bytes. On a full disk, commits would fail until
// somebody makes room.
func (s *Store) room(dir string, bytes int64) error {
	free, known := s.set.free(dir)
	if !known || free >= bytes+spareRoom {
		return nil
	}
	return fmt.Errorf("%w: about %d MB are needed and %d MB are free", ErrNoSpace, (bytes+spareRoom)>>20+1, free>>20)
}

// Room returns ErrNoSpace if that many more bytes could fill the database's disk. Free space in the file does not count,
// because it may be a hole.
func (s *Store) Room(bytes int64) error { return s.room(filepath.Dir(s.path), bytes) }

// copyRoom returns ErrNoSpace if the disk has no room for a copy of the database.
func (s *Store) copyRoom(dir string) error {
	use, err := s.DiskUse()
	if err != nil {
		return err
	}
	return s.room(dir, use.Bytes-use.Free)
}
