package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// How much one View copies at most before it is closed: an open View keeps freed pages from being used again.
const (
	viewBytes = 1 << 20
	viewKeys  = 1000
)

// view runs fn in a read transaction. A page that cannot be read, or that bbolt panics over, is ErrDamaged.
func (s *Store) view(fn func(*bolt.Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			s.suspect.Store(true)
			err = fmt.Errorf("%s: %w (%v)", s.path, ErrDamaged, r)
		}
	}()
	for {
		db := s.db.Load()
		err = db.View(fn)
		if !errors.Is(err, berrors.ErrDatabaseNotOpen) {
			return err
		}
		if s.db.Load() == db {
			return ErrClosed
		}
	}
}

// A cloner copies the value v of key k in b out of a transaction.
type cloner func(b *bolt.Bucket, k, v []byte) []byte

func asStored(_ *bolt.Bucket, _, v []byte) []byte { return bytes.Clone(v) }

// scan calls visit with a copy of each pair of a bucket. It reads in Views of bounded size; what changes between two of them
// may or may not be seen. find returns the bucket, or nil if there is none; prefix limits the keys; clone copies a value out
// of the transaction.
func (s *Store) scan(find func(*bolt.Tx) *bolt.Bucket, prefix []byte, clone cloner, visit func(k, v []byte) error) error {
	type pair struct{ k, v []byte }
	from := prefix
	for {
		var page []pair
		more := false
		err := s.view(func(tx *bolt.Tx) error {
			b := find(tx)
			if b == nil {
				return nil
			}
			size := 0
			c := b.Cursor()
			for k, v := c.Seek(from); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
				if v == nil {
					continue // a bucket
				}
				if size > viewBytes || len(page) == viewKeys {
					more = true
					return nil
				}
				p := pair{bytes.Clone(k), clone(b, k, v)}
				page = append(page, p)
				size += len(p.k) + len(p.v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, p := range page {
			if err := visit(p.k, p.v); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		from = append(page[len(page)-1].k, 0) // the next possible key
	}
}

// inSpace returns a find function for scan: a bucket of a workspace.
func inSpace(root string, name []byte) func(*bolt.Tx) *bolt.Bucket {
	return func(tx *bolt.Tx) *bolt.Bucket {
		if w := spaceBucket(tx, root); w != nil {
			return w.Bucket(name)
		}
		return nil
	}
}

// spaceBucket returns a workspace's bucket, or nil.
func spaceBucket(tx *bolt.Tx, root string) *bolt.Bucket {
	return tx.Bucket(bucketWorkspaces).Bucket([]byte(root))
}

// Workspaces returns all workspaces that were ever written to.
func (s *Store) Workspaces() ([]WorkspaceRecord, error) {
	var out []WorkspaceRecord
	err := s.view(func(tx *bolt.Tx) error {
		all := tx.Bucket(bucketWorkspaces)
		return all.ForEachBucket(func(k []byte) error {
			out = append(out, workspaceRecord(string(k), all.Bucket(k)))
			return nil
		})
	})
	return out, err
}

// Workspace returns what is stored of a workspace; for an unknown one only the root is set.
func (s *Store) Workspace(root string) (WorkspaceRecord, error) {
	var out WorkspaceRecord
	err := s.view(func(tx *bolt.Tx) error {
		out = workspaceRecord(root, spaceBucket(tx, root))
		return nil
	})
	return out, err
}

func workspaceRecord(root string, b *bolt.Bucket) WorkspaceRecord {
	if b == nil {
		return WorkspaceRecord{Root: root}
	}
	last, _ := b.Bucket(bucketChanges).Cursor().Last() // if the number is damaged, no seq may be given out twice
	return WorkspaceRecord{
		Root:     root,
		Seq:      max(number(b.Get(keySeq)), number(last)),
		Trusted:  b.Get(keyTrusted) != nil,
		Claims:   claimsOf(b.Get(keyClaims)),
		Sessions: int(number(b.Get(keyCount))),

		Forgotten: b.Get(keyForgotten) != nil && number(b.Get(keyCount)) == 0,
	}
}

func claimsOf(v []byte) []string {
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(strings.Split(string(v), "\n"), func(hash string) bool { return hash == "" })
}

// Session returns a session, or ErrNotFound.
func (s *Store) Session(id string) (*Session, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketSessions).Bucket([]byte(id)); b != nil {
			raw = bytes.Clone(s.sound(tx, objectKey{session: id, key: keySession}, b.Get(keySession)))
		}
		return nil
	})
	return typed[Session](KindSession, id, raw, err)
}

// Turn returns a turn, or ErrNotFound.
func (s *Store) Turn(id string) (*Turn, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if b, ref := turnBucket(tx, id); b != nil {
			key := turnKey(ref.ordinal)
			raw = bytes.Clone(s.sound(tx, objectKey{session: ref.session, key: key}, b.Get(key)))
		}
		return nil
	})
	return typed[Turn](KindTurn, id, raw, err)
}

// Item returns an item, or ErrNotFound. A running item has the text that AppendText kept.
func (s *Store) Item(id string) (*Item, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if b, ref, index := itemBucket(tx, id); b != nil {
			key := itemKey(prefixItem, ref.ordinal, index)
			raw = s.soundItem(b, ref.session, key, b.Get(key))
		}
		return nil
	})
	return typed[Item](KindItem, id, raw, err)
}

// ItemDetail returns an item's uncut Tool in JSON. It returns ErrNotFound if the item is unknown or was stored without one.
func (s *Store) ItemDetail(id string) ([]byte, error) {
	var out []byte
	err := s.view(func(tx *bolt.Tx) error {
		if b, ref, index := itemBucket(tx, id); b != nil {
			if key := b.Get(itemKey(prefixDetail, ref.ordinal, index)); key != nil {
				out = bytes.Clone(tx.Bucket(bucketBlobs).Get(key))
			}
		}
		return nil
	})
	if err == nil && out == nil {
		err = fmt.Errorf("detail of item %s: %w", id, ErrNotFound)
	}
	return out, err
}

// Diff returns what is left to review in a file, or ErrNotFound.
func (s *Store) Diff(root, path string) (*Diff, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if w := spaceBucket(tx, root); w != nil {
			raw = bytes.Clone(s.sound(tx, objectKey{root: root, key: []byte(path)}, w.Bucket(bucketDiffs).Get([]byte(path))))
		}
		return nil
	})
	return typed[Diff](KindDiff, path, raw, err)
}

// typed ends a read: raw is the object's stored form, or nil if there is none.
func typed[T any](kind Kind, id string, raw []byte, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("%s %s: %w", kind, id, ErrNotFound)
	}
	o, err := decodeObject[T](raw)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", kind, id, err)
	}
	return o, nil
}

// turnBucket returns the bucket of a turn's session, or nil, and the turn's place.
func turnBucket(tx *bolt.Tx, turn string) (*bolt.Bucket, turnRef) {
	ref, ok := decodeTurnRef(tx.Bucket(bucketTurns).Get([]byte(turn)))
	if !ok {
		return nil, ref
	}
	return tx.Bucket(bucketSessions).Bucket([]byte(ref.session)), ref
}

// itemBucket returns the bucket of an item's session, or nil, and the item's place in it.
func itemBucket(tx *bolt.Tx, id string) (b *bolt.Bucket, ref turnRef, index uint32) {
	turn, index, ok := splitItemID(id)
	if !ok {
		return nil, ref, 0
	}
	b, ref = turnBucket(tx, turn)
	return b, ref, index
}

// InCopy returns diffs with only the undecided hunks that a session's agent has made in the session's copy, and the number of these hunks. They
// are lost if the session is deleted. Diffs without such hunks are left out.
func InCopy(diffs []*Diff, session string) (left []*Diff, hunks int) {
	for _, d := range diffs {
		only := *d
		isOfSession := func(from Source) bool { return from.SessionID == session }
		only.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h Hunk) bool { return !h.Isolated || !slices.ContainsFunc(h.Sources, isOfSession) })
		if len(only.Hunks) > 0 {
			left, hunks = append(left, &only), hunks+len(only.Hunks)
		}
	}
	return left, hunks
}
