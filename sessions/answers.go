package sessions

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

func (w space) putAnswer(commit string, data []byte) error {
	b, err := w.b.CreateBucketIfNotExists(bucketAnswers) // older databases lack it
	if err != nil || commit == "" {
		return err
	}
	return b.Put([]byte(commit), data)
}

func (w space) dropAnswer(commit string) error {
	if b := w.b.Bucket(bucketAnswers); b != nil {
		return b.Delete([]byte(commit))
	}
	return nil
}

// dropAnswers deletes all answers.
func (w space) dropAnswers() error {
	if w.b.Bucket(bucketAnswers) == nil {
		return nil
	}
	return w.b.DeleteBucket(bucketAnswers)
}

// Answers calls visit with each commit of which a workspace knows something, and with what it knows (PutAnswer). data is valid only during the call.
func (s *Store) Answers(root string, visit func(commit string, data []byte)) error {
	return s.view(func(tx *bolt.Tx) error {
		w := spaceBucket(tx, root)
		if w == nil || w.Bucket(bucketAnswers) == nil {
			return nil
		}
		return w.Bucket(bucketAnswers).ForEach(func(k, v []byte) error {
			visit(string(k), v)
			return nil
		})
	})
}

// Answer returns what the workspaces know of a commit (PutAnswer), by their roots.
func (s *Store) Answer(commit string) (map[string][]byte, error) {
	of := map[string][]byte{}
	err := s.view(func(tx *bolt.Tx) error {
		all := tx.Bucket(bucketWorkspaces)
		return all.ForEachBucket(func(root []byte) error {
			if b := all.Bucket(root).Bucket(bucketAnswers); b != nil {
				if data := b.Get([]byte(commit)); data != nil {
					of[string(root)] = bytes.Clone(data)
				}
			}
			return nil
		})
	})
	return of, err
}
