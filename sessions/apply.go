package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// prepare checks ops and encodes their objects, so that an op that cannot be stored fails before it is in a transaction with
// others. size is about the number of bytes that they will write.
func prepare(root string, ops []Op) (_ []Op, size int, err error) {
	defer func() {
		if r := recover(); r != nil { // a nil object, or a MarshalJSON that panics
			err = fmt.Errorf("store: encoding: %v", r)
		}
	}()
	if root == "" && (len(ops) != 1 || !ofDatabase(ops[0])) {
		return nil, 0, errors.New("store: a write without a workspace")
	}
	ops = slices.Clone(ops)
	for i, op := range ops {
		switch op := op.(type) {
		case Put:
			kind, id := op.Object.Key()
			if id == "" || op.Object.Sequence() == 0 {
				return nil, 0, fmt.Errorf("store: a %s without an id or a seq", kind)
			}
			if it, ok := op.Object.(*Item); ok && (it.Index < 0 || int(uint32(it.Index)) != it.Index || it.ID != ItemID(it.TurnID, it.Index)) {
				return nil, 0, fmt.Errorf("store: item %q is not named for its turn %q and index %d", it.ID, it.TurnID, it.Index)
			}
			if op.JSON == nil {
				if op.JSON, err = json.Marshal(op.Object); err != nil {
					return nil, 0, fmt.Errorf("store: encoding %s %s: %w", kind, id, err)
				}
			}
			if a, ok := op.Object.(*Approval); ok {
				if turn, tag, ok := splitApprovalID(a.ID); !ok || turn != a.TurnID || tag == "" {
					return nil, 0, fmt.Errorf("store: approval %q is not named for its turn %q", a.ID, a.TurnID)
				}
			}
			ops[i] = op
			size += len(op.JSON) + len(op.Detail)
		case PutChanges:
			if op.ItemID == "" || op.Open != (op.Seq == 0) {
				return nil, 0, fmt.Errorf("store: changes of item %q without an id or a seq", op.ItemID)
			}
			for i := range op.Changes {
				size += len(op.Changes[i].Patch)
			}
		case AppendText:
			if op.Offset < 0 {
				return nil, 0, fmt.Errorf("store: text of item %q at offset %d", op.ItemID, op.Offset)
			}
			size += len(op.Text)
		case PutReview:
			for _, b := range op.Blobs {
				size += len(b)
			}
			size += len(op.State)
		case PutIntent:
			for _, b := range op.Blobs {
				size += len(b)
			}
			size += len(op.Data)
		case PutDecision:
			size += len(op.Data)
		case PutNote:
			size += len(op.Data)
		case putSegment:
			size += op.Size()
		case Fill:
			if op.ID == "" {
				return nil, 0, errors.New("store: filling a session without an id")
			}
		case PutRule:
			size += len(op.Data)
		case RemoveSession:
			if op.Seq == 0 {
				return nil, 0, fmt.Errorf("store: removing session %q without a seq", op.ID)
			}
		case RemoveTurn:
			if op.Seq == 0 {
				return nil, 0, fmt.Errorf("store: removing turn %q without a seq", op.ID)
			}
		}
	}
	return ops, size, nil
}

// ofDatabase reports whether an op belongs to no workspace.
func ofDatabase(op Op) bool {
	_, is := op.(forgetDamaged)
	return is
}

// A space writes one workspace inside a transaction; with root "", what belongs to no workspace.
type space struct {
	tx   *bolt.Tx
	root string
	b    *bolt.Bucket
}

func openSpace(tx *bolt.Tx, root string) (space, error) {
	all := tx.Bucket(bucketWorkspaces)
	if b := all.Bucket([]byte(root)); b != nil {
		w := space{tx: tx, root: root, b: b}
		w.changes().FillPercent = appendFill
		return w, nil
	}
	b, err := all.CreateBucket([]byte(root))
	if err != nil {
		return space{}, fmt.Errorf("workspace %q: %w", root, err)
	}
	for _, name := range [][]byte{bucketChanges, bucketDiffs, bucketReviews, bucketDecisions, bucketNotes, bucketRecent} {
		if _, err := b.CreateBucket(name); err != nil {
			return space{}, err
		}
	}
	return space{tx: tx, root: root, b: b}, nil
}

// space returns the space of the unit's workspace, which it creates if there is none.
func (u *unit) space(tx *bolt.Tx) (space, error) {
	if u.root == "" {
		return space{tx: tx}, nil
	}
	return openSpace(tx, u.root)
}

func (w space) changes() *bolt.Bucket { return w.b.Bucket(bucketChanges) }

// apply makes ops part of the transaction. Applying them twice is the same as applying them once.
func (w space) apply(ops []Op) error {
	for _, op := range ops {
		if err := w.applyOne(op); err != nil {
			return err
		}
	}
	return nil
}

func (w space) applyOne(op Op) error {
	switch op := op.(type) {
	case Put:
		if err := w.raise(op.Object.Sequence()); err != nil {
			return err
		}
		v := stored{flags: flagsOf(op.Object), seq: op.Object.Sequence(), json: op.JSON}
		switch o := op.Object.(type) {
		case *Session:
			return w.putSession(o, v)
		case *Turn:
			return w.putTurn(o, v)
		case *Item:
			return w.putItem(o, v, op.Detail)
		case *Approval:
			return w.putApproval(o, v)
		case *Diff:
			return w.replace(w.b.Bucket(bucketDiffs), []byte(o.Path), v, changed{kind: KindDiff, id: o.Path})
		}
	case PutChanges:
		return errors.Join(w.raise(op.Seq), w.putChanges(op))
	case RemoveSession:
		if err := w.raise(op.Seq); err != nil {
			return err
		}
		return w.removeSession(op.ID, op.Seq)
	case Fill:
		return w.fill(op)
	case putSegment:
		return w.putSegment(op)
	case RemoveTurn:
		return errors.Join(w.raise(op.Seq), w.removeTurn(op.ID, op.Seq))
	case Revive:
		return w.revive(op.ID)
	case AppendText:
		return w.appendText(op)
	case PutReview:
		if err := w.putHolder(w.b.Bucket(bucketReviews), reviewKey(op.Session, op.Path), op.State, op.Blobs); err != nil {
			return fmt.Errorf("review of %q: %w", op.Path, err)
		}
		return nil
	case DropReview:
		return w.dropHolder(w.b.Bucket(bucketReviews), reviewKey(op.Session, op.Path))
	case PutIntent:
		b, err := w.b.CreateBucketIfNotExists(bucketIntents) // older databases lack it
		if err != nil {
			return err
		}
		return w.putHolder(b, be64(op.N), op.Data, op.Blobs)
	case DropIntent:
		return w.dropHolder(w.b.Bucket(bucketIntents), be64(op.N))
	case PutDecision:
		return putNumbered(w.b.Bucket(bucketDecisions), op.N, op.Data)
	case DropDecision:
		return w.b.Bucket(bucketDecisions).Delete(be64(op.N))
	case PutNote:
		return putNumbered(w.b.Bucket(bucketNotes), op.N, op.Data)
	case PutRule:
		return w.putRule(op)
	case DropRule:
		return w.dropRule(op.N)
	case PutAnswer:
		return w.putAnswer(op.Commit, op.Data)
	case DropAnswer:
		return w.dropAnswer(op.Commit)
	case setAside:
		return w.setAside(op.at)
	case forgetDamaged:
		return w.forgetDamaged()
	case DropNote:
		return w.b.Bucket(bucketNotes).Delete(be64(op.N))
	case SetTrust:
		if op.Trusted {
			return errors.Join(w.b.Delete(keyForgotten), w.b.Put(keyTrusted, []byte{1}))
		}
		return w.b.Delete(keyTrusted)
	case Forget:
		return errors.Join(w.b.Delete(keyTrusted), w.b.Delete(keyClaims), w.dropRules(), w.dropAnswers(), w.b.Put(keyForgotten, []byte{1}))
	case SetClaims:
		return w.b.Put(keyClaims, []byte(strings.Join(op.Hashes, "\n")))
	}
	return fmt.Errorf("store: unknown write %T", op)
}

func putNumbered(b *bolt.Bucket, n uint64, data []byte) error {
	b.FillPercent = appendFill
	return b.Put(be64(n), data)
}

// raise keeps the highest seq ever given out, also if its object is not stored.
func (w space) raise(seq uint64) error {
	if seq <= number(w.b.Get(keySeq)) {
		return nil
	}
	return w.b.Put(keySeq, be64(seq))
}

// replace stores v under key in b and moves the object's entry in the changes index.
func (w space) replace(b *bolt.Bucket, key []byte, v stored, c changed) error {
	if old, err := decodeStored(b.Get(key)); err == nil && old.seq != v.seq {
		seq := seqOf(w.tx, w.root, c, old.seq) // the seq of a damaged object may be another's
		if e, ok := decodeChanged(w.changes().Get(be64(seq))); ok && e == c {
			if err := w.changes().Delete(be64(seq)); err != nil {
				return err
			}
		}
	}
	if err := b.Put(key, v.encode()); err != nil {
		return fmt.Errorf("%s %q: %w", c.kind, c.id, err)
	}
	return w.changes().Put(be64(v.seq), c.encode())
}

func (w space) putSession(s *Session, v stored) error {
	if w.tx.Bucket(bucketRemoved).Get([]byte(s.ID)) != nil {
		return nil
	}
	b, err := w.tx.Bucket(bucketSessions).CreateBucketIfNotExists([]byte(s.ID))
	if err != nil {
		return fmt.Errorf("session %q: %w", s.ID, err)
	}
	if b.Get(keySession) == nil {
		err = w.count(+1)
	} else {
		err = w.dropRecent(b.Get(keyUpdated), s.ID)
	}
	if err != nil {
		return err
	}
	updated := updatedKey(s.UpdatedAt)
	recent := recentKey(updated, s.ID)
	return errors.Join(
		b.Put(keyUpdated, updated),
		b.Put(keyWorkspace, []byte(w.root)),
		w.tx.Bucket(bucketRecent).Put(recent, nil),
		w.b.Bucket(bucketRecent).Put(recent, nil),
		w.replace(b, keySession, v, changed{kind: KindSession, id: s.ID}),
	)
}

func (w space) dropRecent(updated []byte, session string) error {
	key := recentKey(updated, session)
	return errors.Join(w.tx.Bucket(bucketRecent).Delete(key), w.b.Bucket(bucketRecent).Delete(key))
}

func (w space) count(by int) error {
	return w.b.Put(keyCount, be64(number(w.b.Get(keyCount))+uint64(by)))
}

func (w space) putTurn(t *Turn, v stored) error {
	b := w.tx.Bucket(bucketSessions).Bucket([]byte(t.SessionID))
	if b == nil {
		return nil
	}
	turns := w.tx.Bucket(bucketTurns)
	ref, known := decodeTurnRef(turns.Get([]byte(t.ID)))
	switch {
	case !known:
		ref = turnRef{session: t.SessionID, ordinal: nextOrdinal(b)}
		if err := turns.Put([]byte(t.ID), ref.encode()); err != nil {
			return fmt.Errorf("turn %q: %w", t.ID, err)
		}
	case ref.session != t.SessionID:
		return fmt.Errorf("store: turn %q belongs to session %q, not to %q", t.ID, ref.session, t.SessionID)
	}
	active := w.tx.Bucket(bucketActive)
	var err error
	if v.flags&flagActive != 0 {
		err = active.Put([]byte(t.ID), nil)
	} else {
		err = active.Delete([]byte(t.ID))
	}
	if err != nil {
		return err
	}
	return w.replace(b, turnKey(ref.ordinal), v, changed{kind: KindTurn, id: t.ID})
}

// nextOrdinal returns the ordinal after a session's last turn.
func nextOrdinal(session *bolt.Bucket) uint32 {
	k := lastKey(session, []byte{prefixTurn})
	if k == nil {
		return 0
	}
	return ordinalOf(k) + 1
}

func (w space) putItem(it *Item, v stored, detail []byte) error {
	b, ref := turnBucket(w.tx, it.TurnID)
	if b == nil {
		return nil
	}
	ordinal := ref.ordinal
	b.FillPercent = appendFill
	if v.flags&flagActive == 0 {
		if err := deletePrefix(b, itemKey(prefixText, ordinal, uint32(it.Index)), nil); err != nil {
			return err
		}
	}
	if err := w.putDetail(b, itemKey(prefixDetail, ordinal, uint32(it.Index)), detail); err != nil {
		return err
	}
	return w.replace(b, itemKey(prefixItem, ordinal, uint32(it.Index)), v, changed{kind: KindItem, id: it.ID})
}

// putDetail stores an item's detail; nil deletes the one it had.
func (w space) putDetail(session *bolt.Bucket, key, detail []byte) error {
	old := bytes.Clone(session.Get(key))
	switch {
	case detail != nil:
		k, err := w.retain(detail)
		if err == nil {
			err = session.Put(key, k[:])
		}
		if err != nil {
			return err
		}
	case old == nil:
		return nil
	default:
		if err := session.Delete(key); err != nil {
			return err
		}
	}
	return w.release(old)
}

func (w space) appendText(op AppendText) error {
	turn, index, ok := splitItemID(op.ItemID)
	if !ok {
		return fmt.Errorf("store: %q is not an item's id", op.ItemID)
	}
	b, ref := turnBucket(w.tx, turn)
	if b == nil {
		return nil
	}
	ordinal := ref.ordinal
	if v, err := decodeStored(b.Get(itemKey(prefixItem, ordinal, index))); err != nil || v.flags&flagActive == 0 {
		return nil
	}
	b.FillPercent = appendFill
	prefix := itemKey(prefixText, ordinal, index)
	key := append(bytes.Clone(prefix), be64(uint64(op.Offset))...)
	if err := deletePrefix(b, prefix, key); err != nil || op.Text == "" {
		return err
	}
	return b.Put(key, []byte(op.Text))
}
