package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"cursord/sessions/internal/pagefile"
)

// A file up to this size is walked at every Open. A larger one is walked only after an unclean stop. bbolt then walks it as
// well, to find the free pages, so the check doubles the time of such a start (0.2 s for 240 MB).
const checkAlways = 64 << 20

// Open opens the database at path, or creates it and its directory, and ends what the last daemon left open. It never
// deletes a corrupt database: it moves the file aside and takes over what can be read of it. A database that cannot be read
// or written for another reason stays where it is, and Open fails with ErrLocked, ErrNewerSchema, ErrNoSpace or an error
// that says what to do.
func Open(path string, o Options) (*Store, Report, error) { return open(path, o, defaults()) }

func open(path string, o Options, set settings) (*Store, Report, error) {
	var report Report
	if o.LockTimeout <= 0 {
		o.LockTimeout = time.Second
	}
	if o.Fault != nil {
		set.commit = func(update func() error) error {
			if err := o.Fault(); err != nil {
				return err
			}
			return update()
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, report, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, report, explain(path, err)
	}
	alive := lastWrite(path)
	damage, err := inspect(path, o.LockTimeout)
	if err != nil {
		return nil, report, explain(path, err)
	}
	s := &Store{
		path: path, o: o, set: set, alive: alive,
		pauses: make(chan func()), wake: make(chan struct{}, 1), retryNow: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
		indexed: make(chan struct{}),
	}
	if damage == nil {
		err = s.openFile(&report, nil)
		if !errors.Is(err, ErrDamaged) {
			return s.start(report, err)
		}
		damage = err // damage in a large file that was not walked
	}
	old, err := salvage(path, set)
	if err != nil {
		return nil, report, explain(path, fmt.Errorf("repairing the database (%w): %w", damage, err))
	}
	report.MovedAside, report.Salvaged = old.aside, old.sessions
	err = s.openFile(&report, old.busy)
	return s.start(report, err)
}

// lastWrite returns when the file at path was last written, which is when the last daemon did something; if that is not
// known, the present time.
func lastWrite(path string) Time {
	st, err := os.Stat(path)
	if err != nil {
		return Now()
	}
	return Time{st.ModTime().UTC().Truncate(time.Millisecond)}
}

// start returns the results of Open: an error if there is one, else the store with its writer and its indexer running.
func (s *Store) start(report Report, err error) (*Store, Report, error) {
	if err != nil {
		return nil, report, explain(s.path, err)
	}
	s.startIndexer()
	go s.runWriter()
	return s, report, nil
}

// openFile opens the file and prepares it for its first reader. idle names sessions that can no longer be busy.
func (s *Store) openFile(report *Report, idle []string) (err error) {
	db, err := openBolt(s.path, s.o.LockTimeout)
	if err != nil {
		return err
	}
	s.db.Store(db)
	if err := s.migrateAndRecover(report, idle); err != nil {
		return errors.Join(err, db.Close())
	}
	// If this fails, the file only takes room; the next compaction reports it.
	_ = os.Remove(s.path + CompactSuffix)
	return nil
}

// migrateAndRecover brings the file's layout up to date, and ends what the last daemon left open.
func (s *Store) migrateAndRecover(report *Report, idle []string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", ErrDamaged, r)
		}
	}()
	if s.epoch, err = prepareSchema(s.db.Load().DB, s.set.migrations); err != nil {
		return err
	}
	left := len(idle) > 0
	err = s.db.Load().View(func(tx *bolt.Tx) error {
		k, _ := tx.Bucket(bucketActive).Cursor().First()
		left = left || k != nil || len(unfilled(tx)) > 0
		return nil
	})
	if err != nil || !left {
		return err
	}
	return s.update(func(tx *bolt.Tx) (err error) {
		if err := removeUnfilled(tx); err != nil {
			return err
		}
		report.Interrupted, err = interrupt(tx, s.alive, idle, s.o)
		return err
	})
}

// initialMap returns how much of the file is mapped at first, in bytes. While the map is large enough, a writer never waits for readers to
// end their transactions. A map takes only address space, except on Windows, where the file itself would get that size. If address
// space is limited, most of it is left for threads.
var initialMap = sync.OnceValue(func() int64 {
	switch {
	case runtime.GOOS == "windows" || ^uint(0)>>32 == 0:
		return 0
	case addressSpaceLimited():
		return 64 << 20
	}
	return 1 << 30
})

// openBolt opens the database, with a smaller map if the system has no room for the wanted one.
func openBolt(path string, timeout time.Duration) (*handle, error) {
	o := &bolt.Options{
		Timeout:        timeout, // 0 would wait for ever
		NoFreelistSync: true,    // less to write in each commit; closeDB writes the list once
		FreelistType:   bolt.FreelistMapType,
	}
	o.InitialMmapSize = int(initialMap())
	db, err := openHandle(path, o)
	for errors.Is(err, syscall.ENOMEM) && o.InitialMmapSize > 0 {
		if o.InitialMmapSize /= 4; o.InitialMmapSize < 1<<20 {
			o.InitialMmapSize = 0
		}
		db, err = openHandle(path, o)
	}
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, 0o600) // prompts are private; if the mode cannot be changed, the directory protects them
	}
	return db, nil
}

// inspect returns how the file at path is damaged, or nil; err says why it could not find out. It locks the file, because
// a file that another process is writing looks damaged.
func inspect(path string, timeout time.Duration) (damage, err error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errors.New("not a regular file: move it away, or choose another state directory with CURSORD_STATE_DIR")
	case st.Size() == 0:
		return nil, nil // bbolt makes an empty file a new database
	}
	// Opening the file for reading takes the lock and reads only the headers.
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: timeout, ReadOnly: true})
	if err == nil {
		defer db.Close()
	} else if !isDamage(err) {
		return nil, err
	}
	f, err2 := os.Open(path)
	if err2 != nil {
		return nil, err2
	}
	defer f.Close()
	if st, err2 = f.Stat(); err2 != nil {
		return nil, err2
	}
	pages, err2 := pagefile.Open(f, st.Size())
	switch {
	case errors.Is(err2, pagefile.ErrNoMeta):
		return err2, nil
	case err2 != nil:
		return nil, err2
	case err != nil:
		return err, nil
	case st.Size() > checkAlways && pages.ClosedCleanly():
		return pages.WalkFree()
	}
	return pages.Walk(nil)
}

// isDamage reports whether bbolt refused a file because of its contents. bbolt's error "too small" has no name.
func isDamage(err error) bool {
	return errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrChecksum) ||
		errors.Is(err, berrors.ErrVersionMismatch) || strings.Contains(err.Error(), "file size too small")
}
