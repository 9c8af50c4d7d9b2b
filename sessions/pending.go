package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// pendingWait bounds how long PendingIn waits for another process that has the database open.
const pendingWait = 100 * time.Millisecond

// PendingIn returns the roots of the workspaces that have something to review, by the database at path, which it does not
// change. Without a database there are none. It is for programs that run while no daemon does: if a process has the database
// open, the error is ErrLocked.
func PendingIn(path string) (roots []string, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %w (%v)", path, ErrDamaged, r)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: pendingWait, ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(path, err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		all := tx.Bucket(bucketWorkspaces)
		if all == nil {
			return nil
		}
		return all.ForEachBucket(func(root []byte) error {
			if files := all.Bucket(root).Bucket(bucketDiffs); files != nil && anyPending(files) {
				roots = append(roots, string(root))
			}
			return nil
		})
	})
	return roots, err
}

// anyPending reports whether one of the diffs in b has something to review. A diff that cannot be read counts as one.
func anyPending(b *bolt.Bucket) bool {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if st, err := decodeStored(v); err != nil || st.flags&flagPending != 0 {
			return true
		}
	}
	return false
}
