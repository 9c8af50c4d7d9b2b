package sessions

import (
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// How much one transaction holds at most, so that a long backlog does not become one huge transaction.
	maxBatchBytes = 16 << 20
	maxBatchUnits = 8192

	minRetry = 50 * time.Millisecond
	maxRetry = 2 * time.Second
)

// A unit is the ops of one Submit.
type unit struct {
	root     string
	given    []Op // what Submit got, for Unstored
	ops      []Op // the same, prepared; only the writer uses them
	done     func(error)
	size     int
	searched int // about how many bytes of it Search looks in
	prepared bool
	err      error // why it cannot be stored; this concerns no other unit
}

// Submit stores ops, all or nothing, and returns at once. done may be nil. The writer calls it when the ops are on disk, or
// with an error that concerns them alone, in the order of the Submits; it must not block. While commits fail, everything is
// kept and tried again. After Close, done is called with ErrClosed before Submit returns.
func (s *Store) Submit(workspace string, ops []Op, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		done(ErrClosed)
		return
	}
	s.waiting = append(s.waiting, &unit{root: workspace, given: ops, ops: ops, done: done})
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// runWriter is the writer: it commits everything that waits in one transaction, again and again.
func (s *Store) runWriter() {
	defer close(s.stopped)
	for {
		select {
		case pause := <-s.pauses:
			pause()
		default:
		}
		batch, closing := s.nextBatch()
		if len(batch) == 0 {
			if closing {
				return
			}
			select {
			case <-s.wake:
			case <-s.quit:
			case pause := <-s.pauses:
				pause()
			}
			continue
		}
		err := s.commitWithRetries(batch)
		for _, u := range batch {
			if u.err == nil {
				u.err = err
			}
			if u.err == nil && u.searched > 0 {
				s.indexer.Stored(u.root, u.searched)
			}
			u.done(u.err)
		}
		s.mu.Lock()
		s.inHand = nil
		s.mu.Unlock()
	}
}

// nextBatch takes the units that wait, up to the size of a batch, and prepares them.
func (s *Store) nextBatch() (batch []*unit, closing bool) {
	s.mu.Lock()
	waiting := s.waiting
	closing = s.closing
	s.mu.Unlock()
	size := 0
	for n, u := range waiting {
		if !u.prepared {
			u.ops, u.size, u.err = prepare(u.root, u.ops)
			u.searched = searchedBytes(u.ops)
			u.prepared = true
		}
		if n > 0 && (size+u.size > maxBatchBytes || n == maxBatchUnits) {
			break
		}
		size += u.size
		batch = waiting[: n+1 : n+1]
	}
	s.mu.Lock()
	if s.waiting = s.waiting[len(batch):]; len(s.waiting) == 0 {
		s.waiting = nil
	}
	s.inHand = batch
	s.mu.Unlock()
	return batch, closing
}

// commitWithRetries commits a batch, however long that takes. It returns ErrClosed if the store was closed first.
func (s *Store) commitWithRetries(batch []*unit) error {
	for delay := minRetry; ; delay = min(2*delay, maxRetry) {
		s.mu.Lock()
		s.begun++
		s.mu.Unlock()
		err := s.commit(batch)
		s.setTrouble(explain(s.path, err))
		if err == nil {
			return nil
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-s.retryNow:
			timer.Stop()
		case <-s.quit:
			timer.Stop()
			if !s.waitClosing() {
				return ErrClosed
			}
		}
	}
}

// waitClosing waits for a moment while the store is closing, and reports whether there is time for another try.
func (s *Store) waitClosing() bool {
	s.mu.Lock()
	left := time.Until(s.deadline)
	s.mu.Unlock()
	if left <= 0 {
		return false
	}
	time.Sleep(min(left, minRetry))
	return true
}

func (s *Store) setTrouble(err error) {
	s.mu.Lock()
	changed := (s.trouble == nil) != (err == nil)
	s.trouble = err
	s.ended = s.begun
	if s.tried != nil {
		close(s.tried)
		s.tried = nil
	}
	s.mu.Unlock()
	if changed && s.o.OnTrouble != nil {
		s.o.OnTrouble(err)
	}
}

// commit commits a batch. If a unit of the batch fails, commit stores the error in it and commits the others.
func (s *Store) commit(batch []*unit) error {
	for {
		bad, err := s.tryCommit(batch)
		if bad == nil {
			return err
		}
		bad.err = err
	}
}

// tryCommit commits the units that have not failed. If the writes of one unit failed, and not the commit, bad is that unit.
func (s *Store) tryCommit(batch []*unit) (bad *unit, err error) {
	live := false
	for _, u := range batch {
		live = live || u.err == nil
	}
	if !live {
		return nil, nil
	}
	err = s.update(func(tx *bolt.Tx) error {
		for _, u := range batch {
			if u.err != nil {
				continue
			}
			bad = u
			w, err := u.space(tx)
			if err == nil {
				err = w.apply(u.ops)
			}
			if err != nil {
				return err
			}
		}
		bad = nil
		return nil
	})
	if err == nil {
		s.journal.add(batch)
	}
	return bad, err
}

// update commits what fn writes. A page that cannot be read, or on which bbolt panics, is ErrDamaged. It does not use
// bbolt's Update, which after a panic looks for the free pages in a goroutine of its own and dies of the same page.
func (s *Store) update(fn func(*bolt.Tx) error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return s.set.commit(func() (err error) {
		db := s.db.Load()
		if db.stuck.Load() {
			return ErrDamaged
		}
		tx, err := db.Begin(true)
		if err != nil {
			return err
		}
		defer func() {
			if r := recover(); r != nil {
				s.suspect.Store(true)
				err = fmt.Errorf("%w (%v)", ErrDamaged, r)
			}
			db.rollback(tx)
		}()
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}
