package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// A Recorded is a snapshot that an earlier process had written down when it was killed.
type Recorded struct {
	Root, Turn string
	Alive      int64 // the process certainly lived at this moment of package clock

	name   string
	header header
	rest   []byte
}

var errCutOff = errors.New("it is cut off")

// ReadRecorded reads the file of a snapshot that was written down.
func ReadRecorded(name string) (*Recorded, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &Recorded{name: name}
	body, rest, ok := nextFrame(b)
	if !ok || body[0] != frameHeader {
		return nil, errCutOff
	}
	if err := json.Unmarshal(body[1:], &r.header); err != nil {
		return nil, err
	}
	r.Root, r.Turn, r.rest = r.header.Root, r.header.Turn, rest
	r.Alive = filestat.Of(name).Written() - int64(clock.Lag)
	return r, nil
}

// Remove removes the file.
func (r *Recorded) Remove() { _ = os.Remove(r.name) } // else the next start of the daemon does

// nextFrame splits off the first frame; false if there is no whole one.
func nextFrame(b []byte) (body, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n == 0 || n > uint64(len(b)) || uint64(len(b)-size) < n+4 {
		return nil, nil, false
	}
	body, rest = b[size:size+int(n)], b[size+int(n):]
	return body, rest[4:], crc32.ChecksumIEEE(body) == binary.BigEndian.Uint32(rest)
}

// A fields reads the fields of a frame. What is missing is zero.
type fields struct{ *bytes.Reader }

func (f fields) uint() uint64 { n, _ := binary.ReadUvarint(f); return n }
func (f fields) int() int64   { n, _ := binary.ReadVarint(f); return n }
func (f fields) flag() bool   { b, _ := f.ReadByte(); return b != 0 }

func (f fields) text() string {
	b := make([]byte, min(f.uint(), uint64(f.Len())))
	_, _ = io.ReadFull(f, b)
	return string(b)
}

// Restore returns the snapshot with all that was noted. It needs Close.
func (r *Recorded) Restore(ctx context.Context, guard *askgit.Guard) (*Snapshot, error) {
	s := Empty(r.Root)
	s.guard, s.began, s.ready, s.taken, s.left = guard, clock.Known(r.header.Began), make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.nested, s.noted, s.links, s.listed = map[string]bool{}, map[string]bool{}, map[string]atomicfile.Links{}, true
	s.spool = newSpool(filepath.Dir(r.name))
	close(s.ready)
	close(s.taken)
	close(s.left)
	if r.header.Git != git.Inside(r.Root) {
		return nil, errors.New("the repository has come or gone since")
	}
	if r.header.Git {
		list, err := git.List(ctx, r.Root, guard, nil)
		if err != nil {
			return nil, err
		}
		s.repos, s.nested = list.All, list.Nested
	}
	table, err := os.ReadFile(filepath.Join(filepath.Dir(r.name), filepath.Base(r.header.Table)))
	if err != nil {
		return nil, err
	}
	for rest := slices.Concat(table, r.rest); len(rest) > 0; {
		body, more, ok := nextFrame(rest)
		if !ok {
			break // the process was killed while it wrote this
		}
		rest = more
		f := fields{bytes.NewReader(body[1:])}
		name := f.text()
		switch body[0] {
		case frameFolder:
			if is := (inode{f.uint(), f.uint()}); name != "." {
				s.dirs[name] = is
			}
			s.whole[name] = f.flag()
		case frameLinks:
			s.links[name] = atomicfile.Links{Dev: f.uint(), Ino: f.uint(), Names: f.uint()}
		case frameFile:
			s.files.set(name, s.restored(f, filepath.Dir(r.name)))
		case frameGone:
			s.files.delete(name)
		}
	}
	return s, nil
}

// restored reads the state of a file.
func (s *Snapshot) restored(f fields, dir string) *entry {
	e := &entry{}
	e.Dev, e.Ino, e.Size, e.Mtime, e.Ctime, e.Mode = f.uint(), f.uint(), f.int(), f.int(), f.int(), fs.FileMode(f.uint())
	is := f.uint()
	e.racy, e.doubtful = is&1 != 0, is&2 != 0
	if oid := f.text(); oid != "" {
		e.blob = git.Blob{OID: oid, Size: e.Size}
	}
	e.content = spooled{n: int(f.int())}
	if file := f.text(); e.content.n > 0 {
		e.content.in, e.content.at = s.opened(filepath.Join(dir, file)), f.int()
	}
	return e
}

// opened returns the contents in a file that an earlier process has written.
func (s *Snapshot) opened(name string) *spool {
	for _, one := range s.earlier {
		if one.name == name {
			return one
		}
	}
	one := &spool{users: 1, name: name, size: math.MaxInt64}
	one.file, _ = os.Open(name) // without it, its contents are unknown
	s.earlier = append(s.earlier, one)
	return one
}
