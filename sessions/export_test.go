package sessions

import (
	"bytes"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/pagefile"
)

// Faults replaces parts of a store under test.
type Faults struct {
	Commit     func(update func() error) error
	Rename     func(from, to string) error
	Free       func(dir string) (int64, bool)
	Drain      time.Duration
	Migrations []func(*bolt.Tx) error
}

func OpenFaulty(path string, o Options, f Faults) (*Store, Report, error) {
	set := defaults()
	if f.Commit != nil {
		set.commit = f.Commit
	}
	if f.Rename != nil {
		set.rename = f.Rename
	}
	if f.Free != nil {
		set.free = f.Free
	}
	if f.Drain != 0 {
		set.drain = f.Drain
	}
	for _, m := range f.Migrations {
		set.migrations = append(set.migrations, m)
	}
	return open(path, o, set)
}

// readUsed returns the pages of a database file up to the last used one.
func readUsed(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pages, err := pagefile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return b[:pages.Used()], nil
}
