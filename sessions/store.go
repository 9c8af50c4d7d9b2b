package sessions

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/search"
)

// Options for Open; the zero value works.
type Options struct {
	LockTimeout time.Duration // how long to wait for another process to close it; 0: 1 s
	// OnTrouble is called from the writer when commits begin to fail, and with nil when they work again.
	OnTrouble func(error)
	// OnDamage is called by Open or by the writer for each object that is found damaged. It must not block.
	OnDamage func(Damage)
	// LeftOpen is called by Open for each item that the last daemon left running. What it returns, if not "", becomes a
	// notice in the item's turn.
	LeftOpen func(*Item) (notice string)
	// Unanswered is called by Open for each pending permission whose call has no item. It returns the tool of the item that Open then adds, and the
	// item's detail or nil. If Unanswered is nil, Open adds no items.
	Unanswered func(*Approval) (*Tool, []byte)
	// Fault, for tests, is called before each commit; if it returns an error, the commit fails with it.
	Fault func() error
}

// A Report says what Open found.
type Report struct {
	MovedAside  string  // where a corrupt database was put, or ""
	Salvaged    int     // sessions read out of it
	Interrupted []*Turn // turns that were running or queued when the last daemon ended; now interrupted
}

// A Store is the database: one writer, many readers. Any goroutine may call its methods. Methods that read wait for the disk
// at most, never for the writer. What they return belongs to the caller.
type Store struct {
	path  string
	epoch string
	db    atomic.Pointer[handle] // another one after Compact
	o     Options
	set   settings
	alive Time // when the last daemon last wrote the file

	// suspect is set when a page was read that is damaged; the file then does not count as closed cleanly.
	suspect atomic.Bool

	mu       sync.Mutex
	waiting  []*unit
	inHand   []*unit // those that the writer is committing
	trouble  error
	aside    map[string]bool // keys whose objects are damaged
	begun    int             // commits that began
	ended    int             // commits that ended
	tried    chan struct{}   // closed when the next commit ends; nil: nobody waits for it
	closing  bool
	deadline time.Time // when Close stops trying

	copying sync.Mutex  // held while the database is copied
	pauses  chan func() // functions to run between two commits
	journal *journal    // set while the database is compacted; the writer's

	indexer  *search.Indexer
	indexed  chan struct{} // closed when the indexer has ended
	indexOld *time.Timer   // until the indexer looks at what an earlier process has stored

	wake     chan struct{} // something waits; of capacity 1
	retryNow chan struct{} // a commit that failed is to be tried at once; of capacity 1
	quit     chan struct{} // closed by Close
	stopped  chan struct{} // closed when the writer has ended

	closeOnce sync.Once
	closeErr  error
}

// settings are what tests change.
type settings struct {
	migrations []migration
	drain      time.Duration                   // how long Close goes on trying to commit while commits fail
	commit     func(update func() error) error // runs a commit
	rename     func(from, to string) error     // puts a new file in place
	small      int                             // the weight of a segment of the search index
	large      int                             // the weight of a large one
	indexOld   time.Duration                   // how long after Open the indexer begins with what is stored already
	free       func(dir string) (int64, bool)  // bytes on a folder's disk
}

func defaults() settings {
	return settings{
		migrations: migrations(),
		drain:      2 * time.Second,
		commit:     func(update func() error) error { return update() },
		rename:     os.Rename,
		small:      search.Small,
		large:      search.Large,
		indexOld:   2 * time.Second, // the time before that belongs to clients
		free:       freeOn,
	}
}

// Path returns where the database is.
func (s *Store) Path() string { return s.path }

// Epoch names this database: seqs of another epoch mean nothing in it.
func (s *Store) Epoch() string { return s.epoch }

// Trouble returns why commits fail at present, or nil.
func (s *Store) Trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble
}

// Retry makes the writer try failed commits again at once instead of after a pause, and returns Trouble as it is afterwards.
// It waits no longer than limit.
func (s *Store) Retry(limit time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble == nil {
		return nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for mine := s.begun + 1; s.trouble != nil && s.ended < mine; {
		if s.tried == nil {
			s.tried = make(chan struct{})
		}
		tried := s.tried
		s.mu.Unlock()
		select {
		case s.retryNow <- struct{}{}:
		default:
		}
		over := false
		select {
		case <-tried:
		case <-timer.C:
			over = true
		case <-s.stopped:
			over = true
		}
		s.mu.Lock()
		if over {
			break
		}
	}
	return s.trouble
}

// Backlog returns the number of Submits that are not on disk yet.
func (s *Store) Backlog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) + len(s.inHand)
}

// Unstored says for people what waits to be committed or is being committed, such as "1 session, 2 items"; "" if there is nothing.
func (s *Store) Unstored() string {
	s.mu.Lock()
	units := append(s.inHand[:len(s.inHand):len(s.inHand)], s.waiting...)
	s.mu.Unlock()
	things := map[string]map[string]bool{}
	add := func(kind, id string) {
		if things[kind] == nil {
			things[kind] = map[string]bool{}
		}
		things[kind][id] = true
	}
	for _, u := range units {
		for _, op := range u.given {
			switch op := op.(type) {
			case Put:
				kind, id := op.Object.Key()
				if kind == KindDiff {
					kind, id = "changed file", u.root+"\x00"+id
				}
				add(string(kind), id)
			case AppendText:
				add(string(KindItem), op.ItemID)
			case PutChanges:
				add(string(KindItem), op.ItemID)
			case RemoveSession:
				add("deleted session", op.ID)
			case RemoveTurn:
				add("removed turn", op.ID)
			case PutReview:
				add("changed file", u.root+"\x00"+op.Path)
			case PutDecision:
				add("decision", fmt.Sprint(u.root, op.N))
			}
		}
	}
	var words []string
	for _, kind := range []string{string(KindSession), "deleted session", string(KindTurn), "removed turn", string(KindItem), string(KindApproval), "changed file", "decision"} {
		switch n := len(things[kind]); n {
		case 0:
		case 1:
			words = append(words, "1 "+kind)
		default:
			words = append(words, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	if len(words) == 0 && len(units) > 0 {
		return "some settings"
	}
	return strings.Join(words, ", ")
}

// Close commits what waits and closes the database. If commits fail, it tries for 2 s; the done functions of the Submits that are left get
// ErrClosed. Do not call it from a done function or from OnTrouble.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		s.deadline = time.Now().Add(s.set.drain)
		s.mu.Unlock()
		close(s.quit)
		<-s.stopped
		s.indexOld.Stop()
		<-s.indexed
		s.copying.Lock() // a copy sees quit, and ends
		defer s.copying.Unlock()
		s.closeErr = s.closeDB()
	})
	return s.closeErr
}

// closeDB closes the file. First it writes the list of free pages, which every other commit leaves out: that marks the file as closed cleanly,
// and saves the next Open a walk over the whole file.
func (s *Store) closeDB() error {
	var marked error
	db := s.db.Load()
	if s.Trouble() == nil {
		db.NoFreelistSync = s.suspect.Load() // a suspect file gets no mark
		marked = s.update(func(*bolt.Tx) error { return nil })
	}
	return explain(s.path, errors.Join(marked, db.Close()))
}
