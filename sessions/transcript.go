package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

const (
	defaultPage     = 100
	maxPage         = 1000
	transcriptBytes = 4 << 20
)

// pageSize returns the number of objects in a page; a limit of 0 or less stands for the default.
func pageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

// Sessions returns a page of a workspace's sessions, or of all sessions for root "", the most recently updated first, and
// the cursor of the next page ("" after the last). limit is 100 for 0 and at most 1000. A cursor that Sessions did not
// return is ErrBadCursor.
func (s *Store) Sessions(root, cursor string, limit int) ([]*Session, string, error) {
	raw, next, err := s.sessionPage(root, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]*Session, len(raw))
	for i, v := range raw {
		if out[i], err = typed[Session](KindSession, "of a list", v, nil); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// SessionsJSON is Sessions with the stored JSON of each session.
func (s *Store) SessionsJSON(root, cursor string, limit int) ([]json.RawMessage, string, error) {
	raw, next, err := s.sessionPage(root, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]json.RawMessage, len(raw))
	for i, v := range raw {
		st, err := decodeStored(v)
		if err != nil {
			return nil, "", fmt.Errorf("session of a list: %w", err)
		}
		out[i] = st.json
	}
	return out, next, nil
}

// sessionPage returns the stored forms of a page of sessions.
func (s *Store) sessionPage(root, cursor string, limit int) (raw [][]byte, next string, err error) {
	end, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	limit = pageSize(limit)
	var last []byte
	more := false
	err = s.view(func(tx *bolt.Tx) error {
		recent := tx.Bucket(bucketRecent)
		if root != "" {
			w := spaceBucket(tx, root)
			if w == nil {
				return nil
			}
			recent = w.Bucket(bucketRecent)
		}
		all := tx.Bucket(bucketSessions)
		size := 0
		c := recent.Cursor()
		var k []byte
		if end == nil {
			k, _ = c.Last()
		} else {
			k, _ = seekBefore(c, end, nil)
		}
		for ; len(k) > 8; k, _ = c.Prev() {
			if len(raw) == limit || size > viewBytes {
				more = true
				return nil
			}
			b := all.Bucket(k[8:])
			if b == nil {
				continue
			}
			v := bytes.Clone(s.sound(tx, objectKey{session: string(k[8:]), key: keySession}, b.Get(keySession)))
			if v == nil {
				continue
			}
			raw, last = append(raw, v), bytes.Clone(k)
			size += len(v)
		}
		return nil
	})
	if err != nil || !more {
		return raw, "", err
	}
	return raw, fmt.Sprintf("%016x.%s", number(last[:8]), last[8:]), nil
}

// parseCursor returns the key before which a page ends; nil for the first page.
func parseCursor(cursor string) ([]byte, error) {
	if cursor == "" {
		return nil, nil
	}
	if len(cursor) < 18 || cursor[16] != '.' {
		return nil, ErrBadCursor
	}
	n, err := strconv.ParseUint(cursor[:16], 16, 64)
	if err != nil {
		return nil, ErrBadCursor
	}
	return recentKey(be64(n), cursor[17:]), nil
}

// LastTurn returns a session's latest turn, or ErrNotFound.
func (s *Store) LastTurn(session string) (*Turn, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketSessions).Bucket([]byte(session)); b != nil {
			if k := lastKey(b, []byte{prefixTurn}); k != nil {
				raw = bytes.Clone(s.sound(tx, objectKey{session: session, key: k}, b.Get(k)))
			}
		}
		return nil
	})
	if err == nil && raw == nil {
		return nil, fmt.Errorf("last turn of session %s: %w", session, ErrNotFound)
	}
	return typed[Turn](KindTurn, "of session "+session, raw, err)
}

// Turns returns a page of a session's turns that started before the turn named (all for ""), the latest first, and whether
// there are older ones. limit is 100 for 0 and at most 1000. A session or turn that is not stored is ErrNotFound.
func (s *Store) Turns(session, before string, limit int) (turns []*Turn, more bool, err error) {
	var raw [][]byte
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketSessions).Bucket([]byte(session))
		if b == nil {
			return fmt.Errorf("session %s: %w", session, ErrNotFound)
		}
		end := []byte{prefixTurn + 1}
		if before != "" {
			ref, known := decodeTurnRef(tx.Bucket(bucketTurns).Get([]byte(before)))
			if !known || ref.session != session {
				return fmt.Errorf("turn %s of session %s: %w", before, session, ErrNotFound)
			}
			end = turnKey(ref.ordinal)
		}
		size, c := 0, b.Cursor()
		for k, v := seekBefore(c, end, []byte{prefixTurn}); len(k) > 0 && k[0] == prefixTurn; k, v = c.Prev() {
			if len(raw) == pageSize(limit) || size > viewBytes {
				more = true
				return nil
			}
			v = bytes.Clone(s.sound(tx, objectKey{session: session, key: k}, v))
			raw, size = append(raw, v), size+len(v)
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for _, v := range raw {
		t, err := typed[Turn](KindTurn, "of session "+session, v, nil)
		if err != nil {
			return nil, false, err
		}
		turns = append(turns, t)
	}
	return turns, more, nil
}

// Transcript returns the newest page of a session's items before the item named (of all for ""), in order. With them come
// the turns that they belong to, and the turns without items between and after them. more says that there are older items.
// limit counts items; it is 100 for 0 and at most 1000, and a page holds about 4 MiB. A session or item that is not stored
// is ErrNotFound.
func (s *Store) Transcript(session, before string, limit int) (turns []*Turn, items []*Item, more bool, err error) {
	var page transcriptPage
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketSessions).Bucket([]byte(session))
		if b == nil {
			return fmt.Errorf("session %s: %w", session, ErrNotFound)
		}
		end := []byte{prefixItem + 1}
		if before != "" {
			turn, index, ok := splitItemID(before)
			ref, known := decodeTurnRef(tx.Bucket(bucketTurns).Get([]byte(turn)))
			if !ok || !known || ref.session != session {
				return fmt.Errorf("item %s of session %s: %w", before, session, ErrNotFound)
			}
			end = itemKey(prefixItem, ref.ordinal, index)
		}
		page = s.readTranscript(b, session, end, before == "", pageSize(limit))
		return nil
	})
	if err != nil {
		return nil, nil, false, err
	}
	for _, v := range slices.Backward(page.turns) {
		t, err := typed[Turn](KindTurn, "of session "+session, v, nil)
		if err != nil {
			return nil, nil, false, err
		}
		turns = append(turns, t)
	}
	for _, v := range slices.Backward(page.items) {
		it, err := typed[Item](KindItem, "of session "+session, v, nil)
		if err != nil {
			return nil, nil, false, err
		}
		items = append(items, it)
	}
	return turns, items, page.more, nil
}

type transcriptPage struct {
	turns [][]byte // the newest first, and the items too
	items [][]byte
	more  bool
}

func (s *Store) readTranscript(b *bolt.Bucket, session string, end []byte, newest bool, limit int) transcriptPage {
	var p transcriptPage
	low, high := uint32(0), uint32(math.MaxUint32) // the turns of the page
	size := 0
	c := b.Cursor()
	for k, v := seekBefore(c, end, []byte{prefixItem}); len(k) > 0 && k[0] == prefixItem; k, v = c.Prev() {
		if len(p.items) == limit || size > transcriptBytes {
			p.more = true
			low = min(low, ordinalOf(k)+1) // turns without items between this page and the next belong to this page
			break
		}
		v = s.soundItem(b, session, k, v)
		if len(p.items) == 0 && !newest {
			high = ordinalOf(k) // later turns were in the page before
		}
		low = ordinalOf(k)
		p.items = append(p.items, v)
		size += len(v)
	}
	if !p.more {
		low = 0
	}
	if len(p.items) == 0 && !newest {
		return p
	}
	above := []byte{prefixTurn + 1}
	if high < math.MaxUint32 {
		above = turnKey(high + 1)
	}
	for k, v := seekBefore(c, above, []byte{prefixTurn}); len(k) > 0 && k[0] == prefixTurn && ordinalOf(k) >= low; k, v = c.Prev() {
		p.turns = append(p.turns, bytes.Clone(s.sound(b.Tx(), objectKey{session: session, key: k}, v)))
		if len(p.turns) == 2*maxPage { // a session with very many turns without items
			break
		}
	}
	return p
}
