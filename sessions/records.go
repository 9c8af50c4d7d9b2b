package sessions

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// An Entry is the newest form of an object, or says that a session or a turn was removed.
type Entry struct {
	Kind    Kind
	ID      string
	Seq     uint64
	JSON    []byte // nil when Removed
	Removed bool
}

// A WorkspaceRecord is what the store knows of a workspace.
type WorkspaceRecord struct {
	Root     string
	Seq      uint64 // the highest ever given out
	Trusted  bool
	Claims   []string // what SetClaims stored; nil: nothing yet
	Sessions int

	Forgotten bool // by Forget; it was not trusted since, and has no sessions
}

// A ReviewRecord is what PutReview stored.
type ReviewRecord struct {
	Path    string
	Session string
	State   []byte
}

// A Numbered is an intent, a decision, a note or a rule.
type Numbered struct {
	N    uint64
	Data []byte
}

// deletePrefix deletes the keys that have a prefix; with from, only those from that key on. It collects the keys first,
// because a deletion moves the cursor past other keys.
func deletePrefix(b *bolt.Bucket, prefix, from []byte) error {
	if from == nil {
		from = prefix
	}
	var doomed [][]byte
	c := b.Cursor()
	for k, _ := c.Seek(from); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		doomed = append(doomed, k)
	}
	for _, k := range doomed {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
