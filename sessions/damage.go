package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"
)

// Damage is an object that was read and is not what was stored. Its stored form is set aside, and a stand-in that says so
// takes its place, under the same seq.
type Damage struct {
	Workspace string
	Kind      Kind
	ID        string
}

// bucketDamaged holds what was set aside: n → name, 0, stored form. It is created when first needed.
var bucketDamaged = []byte("damaged")

// An objectKey is where an object is stored.
type objectKey struct {
	session string // "": it is a diff
	root    string // of a diff
	key     []byte // in the session's bucket, or the diff's path
}

func (at objectKey) kind() Kind {
	switch {
	case at.session == "":
		return KindDiff
	case at.key[0] == prefixItem:
		return KindItem
	case at.key[0] == prefixTurn:
		return KindTurn
	case at.key[0] == prefixApproval:
		return KindApproval
	}
	return KindSession
}

func (at objectKey) String() string {
	return fmt.Sprintf("%s %q %q %x", at.kind(), at.root, at.session, at.key)
}

// bucket returns where the object is stored, or nil.
func (at objectKey) bucket(tx *bolt.Tx) *bolt.Bucket {
	if at.session != "" {
		return tx.Bucket(bucketSessions).Bucket([]byte(at.session))
	}
	if w := spaceBucket(tx, at.root); w != nil {
		return w.Bucket(bucketDiffs)
	}
	return nil
}

// soundFor reports whether a stored form is what was stored. Forms of older versions have no checksum; they are sound if
// they decode.
func soundFor(kind Kind, v []byte) bool {
	if intact(v) {
		return true
	}
	st, err := decodeStored(v)
	if err != nil || st.summed || !utf8.Valid(st.json) {
		return false
	}
	var o Object
	switch kind {
	case KindSession:
		o, err = decodeObject[Session](v)
	case KindTurn:
		o, err = decodeObject[Turn](v)
	case KindItem:
		o, err = decodeObject[Item](v)
	case KindApproval:
		o, err = decodeObject[Approval](v)
	default:
		o, err = decodeObject[Diff](v)
	}
	if err != nil {
		return false
	}
	_, id := o.Key()
	return id != "" && o.Sequence() == st.seq
}

// sound returns v, the object stored at a key. If v is damaged, it has v set aside and returns the stand-in.
func (s *Store) sound(tx *bolt.Tx, at objectKey, v []byte) []byte {
	if v == nil || intact(v) || soundFor(at.kind(), v) {
		return v
	}
	lost := objectKey{at.session, at.root, bytes.Clone(at.key)} // clones only the key that is kept
	in, o := standIn(tx, lost, v)
	s.damaged(lost, o)
	return in.encode()
}

// soundItem is itemValue for an item that is sound, and otherwise returns the stand-in.
func (s *Store) soundItem(b *bolt.Bucket, session string, key, v []byte) []byte {
	return itemValue(b, key, s.sound(b.Tx(), objectKey{session: session, key: key}, v))
}

// damaged has the writer set a damaged object aside, once; o is its stand-in.
func (s *Store) damaged(at objectKey, o Object) {
	name := at.String()
	s.mu.Lock()
	known := s.aside[name]
	if !known {
		if s.aside == nil {
			s.aside = map[string]bool{}
		}
		s.aside[name] = true
	}
	s.mu.Unlock()
	if known {
		return
	}
	d := damageOf(o)
	s.Submit(d.Workspace, []Op{setAside{at}}, func(error) { // if that fails, the stand-in is served all the same
		if s.o.OnDamage != nil {
			s.o.OnDamage(d)
		}
	})
}

func damageOf(o Object) Damage {
	kind, id := o.Key()
	d := Damage{Kind: kind, ID: id}
	switch o := o.(type) {
	case *Session:
		d.Workspace = o.Workspace
	case *Turn:
		d.Workspace = o.Workspace
	case *Item:
		d.Workspace = o.Workspace
	case *Approval:
		d.Workspace = o.Workspace
	case *Diff:
		d.Workspace = o.Workspace
	}
	return d
}

// Damaged returns how many objects, reviews and intents are set aside in this database.
func (s *Store) Damaged() (n int, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketDamaged); b != nil {
			n = int(b.Sequence())
		}
		return nil
	})
	return n, err
}

// ForgetDamaged deletes what is set aside, and returns how many there were. The stand-ins stay.
func (s *Store) ForgetDamaged() (n int, err error) {
	if n, err = s.Damaged(); n == 0 || err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	s.Submit("", []Op{forgetDamaged{}}, func(err error) { done <- err })
	return n, <-done
}

// forgetDamaged empties the bucket of objects set aside.
type forgetDamaged struct{}

func (forgetDamaged) isOp() {}

func (w space) forgetDamaged() error {
	if w.tx.Bucket(bucketDamaged) == nil {
		return nil
	}
	return w.tx.DeleteBucket(bucketDamaged)
}

// setAside puts a stand-in in the place of a damaged object. It does nothing if the object was stored again meanwhile.
type setAside struct{ at objectKey }

func (setAside) isOp() {}

func (w space) setAside(at objectKey) error {
	b := at.bucket(w.tx)
	if b == nil {
		return nil
	}
	v := bytes.Clone(b.Get(at.key))
	if v == nil || soundFor(at.kind(), v) {
		return nil
	}
	in, _ := standIn(w.tx, at, v)
	return errors.Join(w.keepAside(at.String(), v), b.Put(at.key, in.encode()))
}

// keepAside keeps what was stored of something damaged.
func (w space) keepAside(what string, v []byte) error {
	aside, err := w.tx.CreateBucketIfNotExists(bucketDamaged)
	if err != nil {
		return err
	}
	n, err := aside.NextSequence()
	return errors.Join(err, aside.Put(be64(n), append([]byte(what+"\x00"), v...)))
}

// standIn makes the object that replaces the damaged v, from what is known without v.
func standIn(tx *bolt.Tx, at objectKey, v []byte) (stored, Object) {
	old, _ := decodeStored(v)
	o := at.object(tx, old)
	kind, id := o.Key()
	root := damageOf(o).Workspace
	seq := seqOf(tx, root, changed{kind: kind, id: id}, old.seq)
	switch o := o.(type) {
	case *Session:
		o.Seq = seq
	case *Turn:
		o.Seq = seq
	case *Item:
		o.Seq = seq
	case *Approval:
		o.Seq = seq
	case *Diff:
		o.Seq = seq
	}
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings, numbers and times
	}
	return stored{flags: flagsOf(o), seq: seq, json: raw}, o
}

// seqOf returns an object's seq by the changes index; guess is the seq in its stored form.
func seqOf(tx *bolt.Tx, root string, c changed, guess uint64) uint64 {
	w := spaceBucket(tx, root)
	if w == nil {
		return guess
	}
	changes, entry := w.Bucket(bucketChanges), c.encode()
	if bytes.Equal(changes.Get(be64(guess)), entry) {
		return guess
	}
	all := changes.Cursor()
	for k, v := all.Last(); k != nil; k, v = all.Prev() {
		if bytes.Equal(v, entry) {
			return number(k)
		}
	}
	return guess
}

const (
	damagedTitle = "(damaged)"
	damagedText  = "This record was damaged on the disk and has been set aside."
	damagedKind  = "storage" // of a turn's error
)

// object makes a stand-in without a seq.
func (at objectKey) object(tx *bolt.Tx, old stored) Object {
	if at.session == "" {
		d := &Diff{
			Workspace: at.root, Path: string(at.key), URI: "", Kind: DiffModified, State: "clean", Baseline: "unknown",
			Hunks: []Hunk{}, Turns: []string{},
		}
		if w := spaceBucket(tx, at.root); w != nil {
			d.Rev = number(w.Get(keySeq)) // above every rev that was published
			if old.flags&flagPending != 0 {
				d.State = "pending" // the owner of the review corrects it
			}
		}
		return d
	}
	b := at.bucket(tx)
	root := string(b.Get(keyWorkspace))
	when := timeOfKey(b.Get(keyUpdated))
	switch at.kind() {
	case KindSession:
		return at.standInSession(b, root, when, old)
	case KindTurn:
		t := &Turn{
			ID: turnAt(tx, at.session, ordinalOf(at.key)), SessionID: at.session, Workspace: root, Prompt: damagedTitle, Mode: ModeAgent,
			Status: TurnFailed, Error: &TurnError{Kind: damagedKind, Message: damagedText}, CreatedAt: when, EndedAt: &when,
		}
		if hasKey(tx.Bucket(bucketActive), []byte(t.ID)) {
			t.Status, t.Error, t.EndedAt = TurnRunning, nil, nil // its end will be stored
		}
		return t
	case KindApproval:
		return at.standInApproval(tx, root, when)
	}
	turn, index := turnAt(tx, at.session, ordinalOf(at.key)), int(indexOf(at.key))
	return &Item{
		ID: ItemID(turn, index), TurnID: turn, SessionID: at.session, Workspace: root, Index: index, Kind: ItemNotice,
		Status: ItemCompleted, Text: damagedText, StartedAt: when, EndedAt: &when,
	}
}

// standInSession makes a session that may do no more than the damaged one. A permission of the damaged one counts only if
// the words that would narrow it are readable.
func (at objectKey) standInSession(b *bolt.Bucket, root string, when Time, old stored) *Session {
	s := &Session{
		ID: at.session, Workspace: root, Title: damagedTitle, Mode: ModeAsk, Isolation: "copy", State: SessionIdle,
		CreatedAt: when, UpdatedAt: when,
	}
	says := func(field, value string) bool {
		return bytes.Contains(old.json, fmt.Appendf(nil, `,"%s":"%s",`, field, value))
	}
	for _, m := range []Mode{ModeAgent, ModePlan} {
		if says("mode", string(m)) {
			s.Mode = m
		}
	}
	if says("isolation", "none") {
		s.Isolation = "none"
	}
	c := b.Cursor()
	for k, _ := c.Seek([]byte{prefixTurn}); len(k) > 0 && k[0] == prefixTurn; k, _ = c.Next() {
		s.Turns++
	}
	return s
}

func hasKey(b *bolt.Bucket, key []byte) bool {
	k, _ := b.Cursor().Seek(key)
	return bytes.Equal(k, key)
}

// turnAt returns the id of a session's turn.
func turnAt(tx *bolt.Tx, session string, ordinal uint32) string {
	want := turnRef{session, ordinal}.encode()
	c := tx.Bucket(bucketTurns).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if bytes.Equal(v, want) {
			return string(k)
		}
	}
	return fmt.Sprintf("%s-%d", session, ordinal) // the index of turns is damaged, too
}
