package sessions

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/pagefile"
)

// A Part is an object of a session, with an item's detail.
type Part struct {
	Entry
	Detail []byte // an item's uncut Tool; nil where it was stored without one
}

// A Place is a position in a session's parts: a turn, and what comes next in it. The zero Place is the beginning.
type Place struct {
	Turn uint32 // its ordinal
	Next uint32 // 0: the turn itself; else the item of index Next-1
	End  bool   // after everything
}

// Parts returns the next parts of a session from a place on, in order: each turn, then its items. It returns about 1 MiB of
// them, but at least one if there is any, and the place after them. A session that is not stored is ErrNotFound.
func (s *Store) Parts(session string, from Place) (parts []Part, next Place, err error) {
	next = from
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketSessions).Bucket([]byte(session))
		if b == nil {
			return fmt.Errorf("session %s: %w", session, ErrNotFound)
		}
		size := 0
		add := func(kind Kind, v, detail []byte) error {
			o, err := decodeStored(v)
			if err != nil {
				return fmt.Errorf("session %s: %w", session, err)
			}
			parts = append(parts, Part{Entry{Kind: kind, Seq: o.seq, JSON: bytes.Clone(o.json)}, detail})
			size += len(o.json) + len(detail)
			return nil
		}
		turns := b.Cursor()
		for k, v := turns.Seek(turnKey(from.Turn)); len(k) > 0 && k[0] == prefixTurn; k, v = turns.Next() {
			if o := ordinalOf(k); o != next.Turn {
				next = Place{Turn: o}
			}
			if next.Next == 0 {
				if err := add(KindTurn, s.sound(tx, objectKey{session: session, key: k}, v), nil); err != nil {
					return err
				}
				next.Next = 1
			}
			items := b.Cursor()
			prefix := itemKey(prefixItem, next.Turn, 0)[:5]
			for k, v := items.Seek(itemKey(prefixItem, next.Turn, next.Next-1)); bytes.HasPrefix(k, prefix); k, v = items.Next() {
				if size >= viewBytes {
					return nil
				}
				var detail []byte
				if key := b.Get(itemKey(prefixDetail, next.Turn, indexOf(k))); key != nil {
					detail = bytes.Clone(tx.Bucket(bucketBlobs).Get(key))
				}
				if err := add(KindItem, s.soundItem(b, session, k, v), detail); err != nil {
					return err
				}
				next.Next = indexOf(k) + 2
			}
			if size >= viewBytes {
				return nil
			}
		}
		next.End = true
		return nil
	})
	return parts, next, err
}

// SessionSize returns about how many bytes a session takes in the database.
func (s *Store) SessionSize(session string) (size int64, err error) {
	find := func(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket(bucketSessions).Bucket([]byte(session)) }
	measure := func(b *bolt.Bucket, k, v []byte) []byte {
		n := len(k) + len(v) + pagefile.ElemSize
		if k[0] == prefixDetail {
			n += len(b.Tx().Bucket(bucketBlobs).Get(v))
		}
		return be64(uint64(n))
	}
	err = s.scan(find, nil, measure, func(_, v []byte) error {
		size += int64(number(v))
		return nil
	})
	return size, err
}
