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

// PendingIn returns the roots of the workspaces that have something to review in the database at path, which it does not
// change; of none if there is no database. It is for programs that run where no daemon does: if one has the database open,
// the error is ErrLocked.
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

// anyPending reports whether one of the diffs in b has something to review. One that cannot be read may have.
func anyPending(b *bolt.Bucket) bool {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if st, err := decodeStored(v); err != nil || st.flags&flagPending != 0 {
			return true
		}
	}
	return false
}
