package sessions

import (
	"errors"
	"os"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// A handle is an open database. bbolt panics over damaged pages. If Rollback panics, it keeps the lock of writers for ever: the handle is then
// stuck.
type handle struct {
	*bolt.DB
	file  *os.File // of the DB
	stuck atomic.Bool
}

func openHandle(path string, o *bolt.Options) (*handle, error) {
	h := new(handle)
	o.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		h.file, err = os.OpenFile(name, flag, mode)
		return h.file, err
	}
	var err error
	h.DB, err = bolt.Open(path, 0o600, o)
	return h, err
}

// rollback ends a transaction that writes; after a commit it does nothing. If bbolt panics, the handle is stuck.
func (h *handle) rollback(tx *bolt.Tx) {
	defer func() {
		if recover() != nil {
			h.stuck.Store(true)
		}
	}()
	_ = tx.Rollback()
}

// Close waits for open transactions, except if the handle is stuck: then it unlocks and closes the file at once, and the map
// stays until the process ends.
func (h *handle) Close() error {
	if h.stuck.Load() {
		return errors.Join(unlock(h.file), h.file.Close())
	}
	return h.DB.Close()
}
