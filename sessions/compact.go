package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/pagefile"
)

const (
	// How much compaction writes between two syncs. With small syncs a commit's own sync never waits for the whole copy.
	copyBytes = 8 << 20
	// How much may be committed while the file is copied. It stays in memory until the copy has it too.
	maxJournal = 64 << 20
	// How much of that may be left when the writer is stopped for it, and how often compaction tries to get down to that.
	lastJournal = 256 << 10
	maxRounds   = 20
	// A file this close to the end of its map is no longer copied: a larger map has to wait until the copy closes its view,
	// and everybody else waits for the map.
	mapRoom = 64 << 20
)

// ErrTooBusy is returned when a copy of the database was given up because too much was written meanwhile.
var ErrTooBusy = errors.New("the database is too busy: try again later")

// A DiskUse is what the database takes on disk.
type DiskUse struct {
	Bytes int64 // of the file
	Free  int64 // of it, what holds nothing
}

// Wasteful reports whether Compact would pay. Up to 32 MiB of free space count as room to grow.
func (u DiskUse) Wasteful() bool { return u.Free > u.Bytes/2 && u.Free > 32<<20 }

// DiskUse returns what the database takes on disk.
func (s *Store) DiskUse() (DiskUse, error) {
	var u DiskUse
	err := s.view(func(tx *bolt.Tx) error {
		db := tx.DB()
		st := db.Stats()
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		page := int64(db.Info().PageSize)
		u.Bytes = info.Size()
		u.Free = max(u.Bytes-tx.Size()+int64(st.FreePageN+st.PendingPageN)*page, 0)
		return nil
	})
	return u, err
}

// Compact rewrites the database without its unused pages, and continues in the new file. Reads and writes go on meanwhile:
// what is committed during the copy is written to both files. The writer stops only for the last part of that and for the
// renaming. Until the renaming the old file is the database, whatever happens; after it the new file is, complete and on
// disk. Compact fails with ErrTooBusy, ErrNoSpace, ErrDamaged, ErrClosed or ctx's error, and then nothing has changed.
func (s *Store) Compact(ctx context.Context) error {
	if runtime.GOOS == "windows" {
		return errors.New("an open database cannot be replaced on Windows")
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	fresh := s.path + CompactSuffix
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return explain(s.path, err)
	}
	if err := s.copyRoom(filepath.Dir(s.path)); err != nil {
		return err
	}
	err := s.compactInto(ctx, fresh)
	if err == nil {
		return nil
	}
	if rest := os.Remove(fresh); !errors.Is(rest, os.ErrNotExist) {
		err = errors.Join(err, rest)
	}
	return explain(s.path, err)
}

// CompactSuffix ends the name of the new file while Compact makes it. Open removes one that a crash left.
const CompactSuffix = ".compact"

func (s *Store) compactInto(ctx context.Context, fresh string) (err error) {
	var from *bolt.Tx
	j := new(journal)
	err = s.between(ctx, func() (err error) {
		if from, err = s.db.Load().Begin(false); err == nil {
			s.journal = j
		}
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		_ = from.Rollback() // unless that was done below
		j.stop()
	}()
	to, err := openBolt(fresh, s.o.LockTimeout)
	if err != nil {
		return err
	}
	swapped := false
	defer func() {
		if !swapped {
			err = errors.Join(err, to.Close())
		}
	}()
	mayGoOn := func() error {
		if j.full() {
			return ErrTooBusy
		}
		return s.mayCopy(ctx)
	}
	if err := s.copyTx(mayGoOn, to, from); err != nil {
		return err
	}
	if err := from.Rollback(); err != nil {
		return err
	}
	for round := 0; j.size() > lastJournal; round++ {
		if round == maxRounds {
			return ErrTooBusy
		}
		if err := errors.Join(ctx.Err(), j.replay(to.DB)); err != nil {
			return err
		}
	}
	return s.between(ctx, func() error {
		err := j.replay(to.DB)
		if err == nil {
			err = s.set.rename(fresh, s.path)
		}
		if err != nil {
			return err
		}
		// From here on the new file is the database, whatever else fails.
		swapped = true
		s.journal = nil
		s.suspect.Store(false) // damaged pages have not been copied
		old := s.db.Swap(to)
		go func() { _ = old.Close() }() // waits for readers of the old file, which nobody needs any more
		if err := syncDir(filepath.Dir(s.path)); err != nil {
			return fmt.Errorf("the database is compacted, but its folder cannot be synced: %w", err)
		}
		return nil
	})
}

// syncDir makes the renamings in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// between has the writer run f between two commits.
func (s *Store) between(ctx context.Context, f func() error) error {
	ran := make(chan error, 1)
	select {
	case s.pauses <- func() { ran <- f() }:
		return <-ran
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// copyTx copies all that a transaction sees into an empty database.
func (s *Store) copyTx(mayGoOn func() error, to *handle, from *bolt.Tx) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c := &copier{to: to, check: mayGoOn}
	defer func() {
		if r := recover(); r != nil {
			s.suspect.Store(true)
			err = fmt.Errorf("%w (%v)", ErrDamaged, r)
		}
		if c.tx != nil {
			to.rollback(c.tx)
		}
	}()
	return c.copy(from)
}

// mayCopy returns why a copy should stop, or nil.
func (s *Store) mayCopy(ctx context.Context) error {
	select {
	case <-s.quit:
		return ErrClosed
	default:
	}
	if s.nearMapEnd() {
		return ErrTooBusy
	}
	return ctx.Err()
}

// nearMapEnd reports whether the file will soon need a larger map.
func (s *Store) nearMapEnd() bool {
	info, err := os.Stat(s.path)
	if err != nil {
		return false
	}
	const step = 1 << 30 // as bbolt maps files that are larger
	mapped := int64(32 << 10)
	if initialMap() > 0 {
		mapped = initialMap()
	}
	for mapped < info.Size() {
		mapped = min(2*mapped, mapped+step)
	}
	return info.Size()+mapRoom > mapped && mapped >= step
}

// A copier fills a database in transactions of copyBytes.
type copier struct {
	to    *handle
	check func() error
	tx    *bolt.Tx
	size  int // of tx
	round int // transactions so far
}

func (c *copier) copy(from *bolt.Tx) error {
	if err := c.begin(); err != nil {
		return err
	}
	err := from.ForEach(func(name []byte, b *bolt.Bucket) error {
		if _, err := c.tx.CreateBucket(name); err != nil {
			return err
		}
		return c.bucket(b, [][]byte{name})
	})
	if err != nil {
		return err
	}
	return c.tx.Commit()
}

func (c *copier) begin() (err error) {
	if err := c.check(); err != nil {
		return err
	}
	c.size = 0
	c.round++
	c.tx, err = c.to.Begin(true)
	return err
}

// bucket copies the contents of a bucket into the existing one at path.
func (c *copier) bucket(from *bolt.Bucket, path [][]byte) error {
	into, round := c.find(path), c.round
	return from.ForEach(func(k, v []byte) error {
		if c.size > copyBytes {
			if err := c.tx.Commit(); err != nil {
				return err
			}
			if err := c.begin(); err != nil {
				return err
			}
		}
		if round != c.round {
			into, round = c.find(path), c.round
		}
		c.size += len(k) + len(v) + pagefile.ElemSize
		if v != nil {
			return into.Put(k, v)
		}
		if _, err := into.CreateBucket(k); err != nil {
			return err
		}
		return c.bucket(from.Bucket(k), append(path[:len(path):len(path)], k))
	})
}

func (c *copier) find(path [][]byte) *bolt.Bucket {
	b := c.tx.Bucket(path[0])
	for _, name := range path[1:] {
		b = b.Bucket(name)
	}
	b.FillPercent = appendFill
	return b
}

// A journal keeps what is committed while the database is copied, for the copy.
type journal struct {
	mu      sync.Mutex
	units   []*unit
	bytes   int
	stopped bool
}

// add appends the units of a batch that were committed.
func (j *journal) add(batch []*unit) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped || j.bytes > maxJournal {
		return
	}
	for _, u := range batch {
		if u.err == nil {
			j.units = append(j.units, u)
			j.bytes += u.size + 64*len(u.ops)
		}
	}
}

func (j *journal) full() bool { return j.size() > maxJournal }

func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}

// stop frees what the journal holds.
func (j *journal) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped, j.units = true, nil
}

// replay commits to db what the journal holds.
func (j *journal) replay(db *bolt.DB) error {
	j.mu.Lock()
	units, lost := j.units, j.bytes > maxJournal
	j.units, j.bytes = nil, 0
	j.mu.Unlock()
	if lost {
		return ErrTooBusy
	}
	if len(units) == 0 {
		return nil
	}
	return db.Update(func(tx *bolt.Tx) error {
		for _, u := range units {
			w, err := u.space(tx)
			if err == nil {
				err = w.apply(u.ops)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
