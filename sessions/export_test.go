package sessions

import (
	"time"

	bolt "go.etcd.io/bbolt"
)

// Faults change what a store under test does.
type Faults struct {
	Commit     func(update func() error) error
	Drain      time.Duration
	Migrations []func(*bolt.Tx) error
}

func OpenFaulty(path string, o Options, f Faults) (*Store, Report, error) {
	set := defaults()
	if f.Commit != nil {
		set.commit = f.Commit
	}
	if f.Drain != 0 {
		set.drain = f.Drain
	}
	for _, m := range f.Migrations {
		set.migrations = append(set.migrations, m)
	}
	return open(path, o, set)
}
