package sessions

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Fill begins the making of a session that takes many Submits; with Done it ends that. Open removes a session whose making was not
// ended, so that nobody takes a part of it for the whole.
type Fill struct {
	ID   string
	Done bool
}

func (Fill) isOp() {}

var bucketFilling = []byte("filling") // session id → nothing; made when it is needed

func (w space) fill(op Fill) error {
	b, err := w.tx.CreateBucketIfNotExists(bucketFilling)
	switch {
	case err != nil:
		return err
	case op.Done:
		return b.Delete([]byte(op.ID))
	}
	return b.Put([]byte(op.ID), nil)
}

// unfilled returns the ids of the sessions whose making has not ended.
func unfilled(tx *bolt.Tx) (ids [][]byte) {
	if b := tx.Bucket(bucketFilling); b != nil {
		_ = b.ForEach(func(id, _ []byte) error { // which returns no error
			ids = append(ids, bytes.Clone(id))
			return nil
		})
	}
	return ids
}

// removeUnfilled removes the sessions whose making a crash has ended.
func removeUnfilled(tx *bolt.Tx) error {
	for _, id := range unfilled(tx) {
		if b := tx.Bucket(bucketSessions).Bucket(id); b != nil {
			w, err := openSpace(tx, string(b.Get(keyWorkspace)))
			if err == nil {
				err = w.applyOne(RemoveSession{ID: string(id), Seq: workspaceRecord(w.root, w.b).Seq + 1})
			}
			if err != nil {
				return fmt.Errorf("session %s: %w", id, err)
			}
		}
		if err := tx.Bucket(bucketFilling).Delete(id); err != nil {
			return err
		}
	}
	return nil
}
