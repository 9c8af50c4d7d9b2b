package sessions

import (
	"bytes"
	"errors"

	"cursord/sessions/internal/search"
)

// removeSession deletes everything of a session, in its own bucket and in the indexes.
func (w space) removeSession(id string, seq uint64) error {
	all := w.tx.Bucket(bucketSessions)
	b := all.Bucket([]byte(id))
	if b == nil {
		return nil
	}
	changes, turns, active := w.changes(), w.tx.Bucket(bucketTurns), w.tx.Bucket(bucketActive)
	index, err := search.Remove(w.b.Bucket(bucketIndex))
	if err != nil {
		return err
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		var err error
		switch k[0] {
		case prefixDetail:
			err = w.release(v)
		case keySession[0], prefixTurn, prefixItem, prefixApproval:
			s, bad := decodeStored(v)
			if bad != nil {
				continue
			}
			e, ok := decodeChanged(changes.Get(be64(s.seq)))
			if !ok || e.kind != (objectKey{session: id, key: k}).kind() { // it is a damaged object's, which has another's seq
				continue
			}
			if e.kind == KindTurn {
				err = errors.Join(turns.Delete([]byte(e.id)), active.Delete([]byte(e.id)))
			}
			err = errors.Join(err, changes.Delete(be64(s.seq)), index.Gone(s.seq))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(
		w.dropRecent(b.Get(keyUpdated), id),
		w.count(-1),
		all.DeleteBucket([]byte(id)),
		w.tx.Bucket(bucketRemoved).Put([]byte(id), append(be64(seq), w.root...)),
		changes.Put(be64(seq), changed{kind: KindSession, removed: true, id: id}.encode()),
	)
}

// removeTurn deletes a turn with its items and approvals, in its session's bucket and in the indexes.
func (w space) removeTurn(id string, seq uint64) error {
	b, ref := turnBucket(w.tx, id)
	if b == nil {
		return nil
	}
	changes := w.changes()
	index, err := search.Remove(w.b.Bucket(bucketIndex))
	if err != nil {
		return err
	}
	var keys [][]byte
	for _, prefix := range [][]byte{
		turnKey(ref.ordinal), itemKey(prefixItem, ref.ordinal, 0)[:5], itemKey(prefixDetail, ref.ordinal, 0)[:5], itemKey(prefixText, ref.ordinal, 0)[:5],
		approvalKey(ref.ordinal, ""),
	} {
		c := b.Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			keys = append(keys, bytes.Clone(k))
			switch k[0] {
			case prefixDetail:
				if err := w.release(bytes.Clone(v)); err != nil {
					return err
				}
			case prefixTurn, prefixItem, prefixApproval:
				s, bad := decodeStored(v)
				if bad != nil {
					continue
				}
				e, ok := decodeChanged(changes.Get(be64(s.seq)))
				if !ok || e.kind != (objectKey{session: ref.session, key: k}).kind() { // it is a damaged object's, which has another's seq
					continue
				}
				if err := errors.Join(changes.Delete(be64(s.seq)), index.Gone(s.seq)); err != nil {
					return err
				}
			}
		}
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return errors.Join(
		w.tx.Bucket(bucketTurns).Delete([]byte(id)),
		w.tx.Bucket(bucketActive).Delete([]byte(id)),
		changes.Put(be64(seq), changed{kind: KindTurn, removed: true, id: id}.encode()),
	)
}

// revive removes a session's tombstone.
func (w space) revive(id string) error {
	removed := w.tx.Bucket(bucketRemoved)
	v := removed.Get([]byte(id))
	if len(v) <= 8 {
		return nil
	}
	seq, root := bytes.Clone(v[:8]), string(v[8:])
	if b := spaceBucket(w.tx, root); b != nil {
		if err := b.Bucket(bucketChanges).Delete(seq); err != nil {
			return err
		}
	}
	return removed.Delete([]byte(id))
}
