package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// pendingWait bounds how long FoldersIn waits for another process that has the database open.
const pendingWait = 100 * time.Millisecond

// FoldersIn returns the roots of all workspaces in the database at path, and of those with something to review. It does not change the
// database. If there is no database, it returns none. It is for use while no daemon runs: if another process has the database
// open, the error is ErrLocked.
func FoldersIn(path string) (all, pending []string, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %w (%v)", path, ErrDamaged, r)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: pendingWait, ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, explain(path, err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		folders := tx.Bucket(bucketWorkspaces)
		if folders == nil {
			return nil
		}
		return folders.ForEachBucket(func(root []byte) error {
			all = append(all, string(root))
			if files := folders.Bucket(root).Bucket(bucketDiffs); files != nil && anyPending(files) {
				pending = append(pending, string(root))
			}
			return nil
		})
	})
	return all, pending, err
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
