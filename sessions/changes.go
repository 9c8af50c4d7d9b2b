package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"
)

// Changes returns the newest form of each object of a workspace whose seq is above after, in the order of their seqs. It
// returns at most limit of them (0: no limit) and about 1 MiB of JSON, but at least one if there is any. The caller goes on
// from the last one's Seq; an empty result means that there are no more. A running item has the text that AppendText kept.
func (s *Store) Changes(root string, after uint64, limit int) ([]Entry, error) {
	var out []Entry
	if after == math.MaxUint64 {
		return nil, nil
	}
	err := s.view(func(tx *bolt.Tx) error {
		r := resolver{s: s, tx: tx, root: root, space: spaceBucket(tx, root)}
		if r.space == nil {
			return nil
		}
		size := 0
		c := r.space.Bucket(bucketChanges).Cursor()
		for k, v := c.Seek(be64(after + 1)); k != nil; k, v = c.Next() {
			at, ok := decodeChanged(v)
			if !ok {
				continue
			}
			e, ok := r.entry(at, number(k))
			if !ok {
				continue
			}
			out = append(out, e)
			if size += len(e.JSON); size >= viewBytes || len(out) == limit {
				return nil
			}
		}
		return nil
	})
	return out, err
}

// Entry returns the newest form of one object, or ErrNotFound. A diff's id is its path; root matters only for diffs.
func (s *Store) Entry(root string, k Kind, id string) (Entry, error) {
	var e Entry
	ok := false
	err := s.view(func(tx *bolt.Tx) error {
		r := resolver{s: s, tx: tx, root: root, space: spaceBucket(tx, root)}
		e, ok = r.entry(changed{kind: k, id: id}, 0)
		if v := tx.Bucket(bucketRemoved).Get([]byte(id)); !ok && k == KindSession && len(v) > 8 {
			e, ok = Entry{Kind: k, ID: id, Seq: number(v[:8]), Removed: true}, true
		}
		return nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("%s %s: %w", k, id, ErrNotFound)
	}
	return e, err
}

// TurnItems returns a turn's items in order, or ErrNotFound if the turn is unknown. A running item has the text that
// AppendText kept.
func (s *Store) TurnItems(turn string) ([]Entry, error) {
	var ref turnRef
	known := false
	err := s.view(func(tx *bolt.Tx) error {
		var b *bolt.Bucket
		b, ref = turnBucket(tx, turn)
		known = b != nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("turn %s: %w", turn, ErrNotFound)
	}
	var out []Entry
	find := func(tx *bolt.Tx) *bolt.Bucket {
		b, _ := turnBucket(tx, turn)
		return b
	}
	clone := func(b *bolt.Bucket, k, v []byte) []byte { return s.soundItem(b, ref.session, k, v) }
	err = s.scan(find, itemKey(prefixItem, ref.ordinal, 0)[:5], clone, func(k, v []byte) error {
		id := ItemID(turn, int(indexOf(k)))
		st, err := decodeStored(v)
		if err != nil {
			return fmt.Errorf("item %s: %w", id, err)
		}
		out = append(out, Entry{Kind: KindItem, ID: id, Seq: st.seq, JSON: st.json})
		return nil
	})
	return out, err
}

// A resolver looks up objects in one read transaction. It remembers the last turn, because items of a turn follow each
// other.
type resolver struct {
	s     *Store
	tx    *bolt.Tx
	root  string
	space *bolt.Bucket // nil when the workspace is unknown

	turn    string
	session *bolt.Bucket
	ref     turnRef
}

// entry reads an object. A seq other than 0 must equal the object's: where the index disagrees with the object, the entry
// does not count.
func (r *resolver) entry(at changed, seq uint64) (Entry, bool) {
	if at.removed {
		return Entry{Kind: at.kind, ID: at.id, Seq: seq, Removed: true}, true
	}
	st, err := decodeStored(r.value(at))
	if err != nil || seq != 0 && st.seq != seq {
		return Entry{}, false
	}
	return Entry{Kind: at.kind, ID: at.id, Seq: st.seq, JSON: st.json}, true
}

// value returns a copy of an object's stored form, or nil.
func (r *resolver) value(at changed) []byte {
	switch at.kind {
	case KindSession:
		if b := r.tx.Bucket(bucketSessions).Bucket([]byte(at.id)); b != nil {
			return bytes.Clone(r.s.sound(r.tx, objectKey{session: at.id, key: keySession}, b.Get(keySession)))
		}
	case KindTurn:
		if r.seek(at.id) {
			key := turnKey(r.ref.ordinal)
			return bytes.Clone(r.s.sound(r.tx, objectKey{session: r.ref.session, key: key}, r.session.Get(key)))
		}
	case KindItem:
		if turn, index, ok := splitItemID(at.id); ok && r.seek(turn) {
			key := itemKey(prefixItem, r.ref.ordinal, index)
			return r.s.soundItem(r.session, r.ref.session, key, r.session.Get(key))
		}
	case KindApproval:
		if turn, tag, ok := splitApprovalID(at.id); ok && r.seek(turn) {
			key := approvalKey(r.ref.ordinal, tag)
			return bytes.Clone(r.s.sound(r.tx, objectKey{session: r.ref.session, key: key}, r.session.Get(key)))
		}
	case KindDiff:
		if r.space != nil {
			key := []byte(at.id)
			return bytes.Clone(r.s.sound(r.tx, objectKey{root: r.root, key: key}, r.space.Bucket(bucketDiffs).Get(key)))
		}
	}
	return nil
}

func (r *resolver) seek(turn string) bool {
	if r.turn != turn || r.session == nil {
		r.turn = turn
		r.session, r.ref = turnBucket(r.tx, turn)
	}
	return r.session != nil
}

// itemValue copies an item's stored form out of its session's bucket, with the text that was kept if the item runs. It
// returns nil for no value.
func itemValue(b *bolt.Bucket, key, v []byte) []byte {
	st, err := decodeStored(v)
	if err != nil || st.flags&flagActive == 0 {
		return bytes.Clone(v)
	}
	prefix := append([]byte{prefixText}, key[1:]...)
	c := b.Cursor()
	k, chunk := c.Seek(prefix)
	if !bytes.HasPrefix(k, prefix) {
		return bytes.Clone(v)
	}
	it, err := decodeObject[Item](v)
	if err != nil {
		return bytes.Clone(v)
	}
	text := []byte(it.Text)
	for ; bytes.HasPrefix(k, prefix); k, chunk = c.Next() {
		offset := number(k[len(prefix):])
		if offset > uint64(len(text)) {
			break
		}
		text = append(text[:offset], chunk...)
	}
	it.Text = string(text)
	if st.json, err = json.Marshal(it); err != nil {
		return bytes.Clone(v)
	}
	return st.encode()
}
