package sessions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// interrupt ends what a daemon that stopped or died left open. Its turns, running or queued, become interrupted; their
// running items become cancelled or rejected, with the text that was kept; their pending approvals become withdrawn; their sessions become
// idle. They get new seqs in the order in which a daemon publishes the end of a turn: items, approvals, session, turns. idle names more sessions
// that can no longer be busy. Nobody knows when the daemon died, so everything ends at alive, the last moment at which it did something.
// interrupt returns the turns, by workspace and age.
func interrupt(tx *bolt.Tx, alive Time, idle []string, o Options) ([]*Turn, error) {
	open := map[string][]uint32{}
	for _, id := range idle {
		open[id] = nil
	}
	var stale [][]byte
	err := tx.Bucket(bucketActive).ForEach(func(id, _ []byte) error {
		ref, ok := decodeTurnRef(tx.Bucket(bucketTurns).Get(id))
		if !ok || tx.Bucket(bucketSessions).Bucket([]byte(ref.session)) == nil {
			stale = append(stale, id)
			return nil
		}
		open[ref.session] = append(open[ref.session], ref.ordinal)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range stale {
		if err := tx.Bucket(bucketActive).Delete(id); err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, len(open))
	for id := range open {
		names = append(names, id)
	}
	slices.Sort(names)
	var out []*Turn
	for _, id := range names {
		slices.Sort(open[id])
		turns, err := interruptSession(tx, id, open[id], o, alive)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
		out = append(out, turns...)
	}
	slices.SortStableFunc(out, func(a, b *Turn) int {
		return bytes.Compare([]byte(a.Workspace), []byte(b.Workspace))
	})
	return out, nil
}

func interruptSession(tx *bolt.Tx, id string, ordinals []uint32, o Options, alive Time) ([]*Turn, error) {
	b := tx.Bucket(bucketSessions).Bucket([]byte(id))
	if b == nil {
		return nil, nil
	}
	w, err := openSpace(tx, string(b.Get(keyWorkspace)))
	if err != nil {
		return nil, err
	}
	seq := workspaceRecord(w.root, w.b).Seq
	for _, ordinal := range ordinals {
		if err := w.cancelItems(b, id, ordinal, &seq, o.LeftOpen, o.OnDamage, alive); err != nil {
			return nil, err
		}
		asked, err := w.withdrawApprovals(b, id, ordinal, &seq, o.OnDamage)
		if err != nil {
			return nil, err
		}
		if err := w.addUnanswered(b, ordinal, asked, o.Unanswered, &seq, alive); err != nil {
			return nil, err
		}
	}
	s, err := decodeSound[Session](w, objectKey{session: id, key: keySession}, o.OnDamage)
	if err != nil {
		return nil, err
	}
	if s.State != SessionIdle {
		seq++
		s.State, s.UpdatedAt, s.Seq = SessionIdle, Now(), seq
		if err := w.put(s, nil); err != nil {
			return nil, err
		}
	}
	var out []*Turn
	for _, ordinal := range ordinals {
		t, err := decodeSound[Turn](w, objectKey{session: id, key: turnKey(ordinal)}, o.OnDamage)
		if err != nil {
			return nil, err
		}
		seq++
		ended := alive
		if t.StartedAt != nil {
			ended = later(*t.StartedAt, alive)
		}
		t.Status, t.EndedAt, t.Background, t.Waiting, t.Seq = TurnInterrupted, &ended, nil, false, seq
		if err := w.put(t, nil); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// later returns the later of two times. A file's time may be some milliseconds behind the clock.
func later(a, b Time) Time {
	if a.After(b.Time) {
		return a
	}
	return b
}

// cancelItems ends the running items of a turn: calls that wait for a permission or were refused it become rejected, all others cancelled. leftOpen, if
// not nil, returns the text of a notice to add for an item that becomes cancelled, or "". The items' details stay.
func (w space) cancelItems(
	b *bolt.Bucket, session string, ordinal uint32, seq *uint64, leftOpen func(*Item) string, damaged func(Damage), alive Time,
) error {
	var running []*Item
	items := 0
	prefix := itemKey(prefixItem, ordinal, 0)[:5]
	c := b.Cursor()
	var unsound []objectKey
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		items = int(binary.BigEndian.Uint32(k[len(prefix):])) + 1
		if st, err := decodeStored(v); err != nil || st.flags&flagActive == 0 {
			continue
		}
		if !soundFor(KindItem, v) { // it has no text that could be kept
			unsound = append(unsound, objectKey{session: session, key: bytes.Clone(k)})
			continue
		}
		it, err := decodeObject[Item](itemValue(b, k, v))
		if err != nil {
			return err
		}
		running = append(running, it)
	}
	for _, at := range unsound {
		if _, err := decodeSound[Item](w, at, damaged); err != nil {
			return err
		}
	}
	var notices []*Item
	refused := refusedCalls(b, ordinal)
	for _, it := range running {
		why := refused(it)
		if leftOpen != nil && why == "" {
			if text := leftOpen(it); text != "" {
				notices = append(notices, &Item{
					ID: ItemID(it.TurnID, items+len(notices)), TurnID: it.TurnID, SessionID: it.SessionID, Workspace: it.Workspace,
					Index: items + len(notices), Kind: ItemNotice, Status: ItemCompleted, Text: text, StartedAt: alive, EndedAt: &alive,
				})
			}
		}
		*seq++
		ended := later(it.StartedAt, alive)
		it.Status, it.EndedAt, it.Seq = ItemCancelled, &ended, *seq
		var detail []byte
		if key := b.Get(itemKey(prefixDetail, ordinal, uint32(it.Index))); key != nil {
			detail = bytes.Clone(w.tx.Bucket(bucketBlobs).Get(key))
		}
		if why != "" {
			it.Status, it.Tool.Error = ItemRejected, why
			var uncut Tool
			if detail != nil && json.Unmarshal(detail, &uncut) == nil {
				uncut.Error = why
				detail, _ = json.Marshal(&uncut)
			}
		}
		if err := w.put(it, detail); err != nil {
			return err
		}
	}
	for _, it := range notices {
		*seq++
		it.Seq = *seq
		if err := w.put(it, nil); err != nil {
			return err
		}
	}
	return nil
}

// addUnanswered adds items to a turn for calls that did not run: those for which the agent had asked permission and that have no item yet. unanswered, if
// not nil, returns the item's tool and detail.
func (w space) addUnanswered(b *bolt.Bucket, ordinal uint32, asked []*Approval, unanswered func(*Approval) (*Tool, []byte), seq *uint64, alive Time) error {
	next := 0
	if k := lastKey(b, itemKey(prefixItem, ordinal, 0)[:5]); k != nil {
		next = int(indexOf(k)) + 1
	}
	for _, a := range asked {
		if unanswered == nil || a.Kind != ApprovalPermission || a.ItemID != "" {
			continue
		}
		tool, detail := unanswered(a)
		ended := later(a.CreatedAt, alive)
		*seq++
		it := &Item{
			ID: ItemID(a.TurnID, next), TurnID: a.TurnID, SessionID: a.SessionID, Workspace: a.Workspace, Index: next, Kind: ItemTool, Status: ItemRejected,
			Tool: tool, StartedAt: a.CreatedAt, EndedAt: &ended, Seq: *seq,
		}
		if err := w.put(it, detail); err != nil {
			return err
		}
		next++
	}
	return nil
}

// decodeSound decodes the object at a key, or sets it aside and returns its stand-in.
func decodeSound[T any](w space, at objectKey, damaged func(Damage)) (*T, error) {
	v := at.bucket(w.tx).Get(at.key)
	if v != nil && !soundFor(at.kind(), v) {
		_, o := standIn(w.tx, at, v)
		if err := w.setAside(at); err != nil {
			return nil, err
		}
		if damaged != nil {
			damaged(damageOf(o))
		}
		v = at.bucket(w.tx).Get(at.key)
	}
	return decodeObject[T](v)
}

func (w space) put(o Object, detail []byte) error {
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return w.applyOne(Put{Object: o, JSON: raw, Detail: detail})
}
