package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/pagefile"
)

// salvaged says what salvage did.
type salvaged struct {
	aside    string   // where the corrupt file is now
	sessions int      // taken over
	busy     []string // those of them that were not idle
}

// salvageBatch is the number of records in one transaction of the new database.
const salvageBatch = 2000

// salvage replaces the corrupt database at path by a new one with everything that can be read of it. It completes the new
// one before it moves the old one: if it fails, on a full disk for example, nothing has changed.
func salvage(path string, set settings) (salvaged, error) {
	old, err := os.Open(path)
	if err != nil {
		return salvaged{}, err
	}
	defer old.Close()
	st, err := old.Stat()
	if err != nil {
		return salvaged{}, err
	}
	fresh := path + ".repair"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return salvaged{}, err
	}
	s := &salvager{set: set}
	err = s.fill(fresh, old, st.Size())
	_ = old.Close() // Windows does not rename open files
	if err != nil {
		return salvaged{}, errors.Join(err, os.Remove(fresh))
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(st, now) {
		return salvaged{}, errors.Join(errors.New("another process is repairing it: try again"), err, os.Remove(fresh))
	}
	s.done.aside, err = swap(path, fresh)
	return s.done, err
}

// swap puts fresh in the place of path, and moves the old file aside. On file systems with hard links there is a file at
// path at every moment.
func swap(path, fresh string) (aside string, err error) {
	base := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	aside = base
	for n := 2; ; n++ {
		if err = os.Link(path, aside); !errors.Is(err, os.ErrExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", base, n)
	}
	if err != nil {
		if err = os.Rename(path, aside); err != nil {
			return "", err
		}
	}
	return aside, os.Rename(fresh, path)
}

// A salvager writes what a walk over the corrupt file finds into a new database. It takes each record by itself and leaves
// out a record that cannot be understood or stored again, or whose session or turn is lost.
type salvager struct {
	set  settings
	db   *handle
	tx   *bolt.Tx
	n    int // records in tx
	done salvaged
	err  error // of a commit to the new database
}

func (s *salvager) fill(path string, old *os.File, size int64) (err error) {
	pages, err := pagefile.Open(old, size)
	if err != nil && !errors.Is(err, pagefile.ErrNoMeta) {
		return err
	}
	if pages != nil {
		if err := newerSchema(pages, uint64(len(s.set.migrations))+1); err != nil {
			return err
		}
	}
	if s.db, err = openBolt(path, time.Second); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	s.db.NoSync = true // synced once, at the end
	if _, err := prepareSchema(s.db.DB, s.set.migrations); err != nil || pages == nil {
		return cmp.Or(err, s.db.Sync())
	}
	if s.tx, err = s.db.Begin(true); err != nil {
		return err
	}
	defer func() { _ = s.tx.Rollback() }() // after a commit it does nothing
	if _, err := pages.Walk(s.takeOver); err != nil || s.err != nil {
		return errors.Join(err, s.err)
	}
	if err := s.sweep(); err != nil {
		return err
	}
	s.db.NoFreelistSync = false
	if err := s.tx.Commit(); err != nil {
		return err
	}
	return s.db.Sync()
}

// newerSchema returns ErrNewerSchema if the file, as far as it can be read, is of a later version than known.
func newerSchema(pages *pagefile.File, known uint64) error {
	var schema uint64
	_, err := pages.Walk(func(path []string, k, v []byte) {
		if len(path) == 1 && path[0] == string(bucketMeta) && string(k) == string(keySchema) {
			schema = number(v)
		}
	})
	if err == nil && schema > known {
		err = ErrNewerSchema
	}
	return err
}

// takeOver puts one record of the old file into the new database.
func (s *salvager) takeOver(path []string, k, v []byte) {
	if s.err != nil {
		return
	}
	defer func() {
		_ = recover() // a record that breaks an assumption is left out
	}()
	if s.n++; s.n > salvageBatch {
		s.n = 0
		if s.err = s.tx.Commit(); s.err == nil {
			s.tx, s.err = s.db.Begin(true)
		}
		if s.err != nil {
			return
		}
	}
	k, v = append([]byte(nil), k...), append([]byte(nil), v...)
	switch {
	case len(path) == 1 && path[0] == string(bucketBlobs):
		s.blob(k, v)
	case len(path) == 2 && path[0] == string(bucketSessions) && len(k) > 0:
		s.inSession(path[1], k, v)
	case len(path) >= 2 && path[0] == string(bucketWorkspaces) && path[1] != "":
		s.inWorkspace(path, k, v)
	}
}

// blob stores a content without references; those who refer to it come later (refer), and sweep deletes what nobody refers to.
func (s *salvager) blob(k, v []byte) {
	if fmt.Sprintf("%x", k) == BlobID(v) {
		_ = s.tx.Bucket(bucketBlobs).Put(k, v)
	}
}

// sweep deletes the contents without references.
func (s *salvager) sweep() error {
	var doomed [][]byte
	refs := s.tx.Bucket(bucketRefs)
	err := s.tx.Bucket(bucketBlobs).ForEach(func(k, _ []byte) error {
		if refs.Get(k) == nil {
			doomed = append(doomed, k)
		}
		return nil
	})
	for _, k := range doomed {
		err = errors.Join(err, s.tx.Bucket(bucketBlobs).Delete(k))
	}
	return err
}

// refer adds a reference to a content; it returns false if the content was not taken over.
func (s *salvager) refer(k []byte) bool {
	if s.tx.Bucket(bucketBlobs).Get(k) == nil {
		return false
	}
	refs := s.tx.Bucket(bucketRefs)
	return refs.Put(k, be64(number(refs.Get(k))+1)) == nil
}

// salvageObject decodes a stored object and puts it into its workspace. It returns nil if that fails.
func salvageObject[T any, P interface {
	*T
	Object
}](s *salvager, root func(P) string, setSeq func(P, uint64), v []byte) P {
	o, err := decodeObject[T](v)
	if err != nil {
		return nil
	}
	p := P(o)
	if kind, _ := p.Key(); !soundFor(kind, v) {
		return nil
	}
	w, err := openSpace(s.tx, root(p))
	if err != nil {
		return nil
	}
	st, _ := decodeStored(v)
	raw := st.json
	if seq := p.Sequence(); seq == 0 || w.changes().Get(be64(seq)) != nil { // the seq is taken: two pages of different ages were found
		setSeq(p, number(w.b.Get(keySeq))+1)
		if raw, err = json.Marshal(p); err != nil {
			return nil
		}
	}
	ops, _, err := prepare(w.root, []Op{Put{Object: p, JSON: raw}})
	if err == nil {
		err = w.apply(ops)
	}
	if err != nil {
		return nil
	}
	return p
}

func (s *salvager) inSession(id string, k, v []byte) {
	b := s.tx.Bucket(bucketSessions).Bucket([]byte(id))
	switch {
	case k[0] == keySession[0] && len(k) == 1:
		o := salvageObject(s, func(o *Session) string { return o.Workspace }, func(o *Session, n uint64) { o.Seq = n }, v)
		if o == nil {
			return
		}
		s.done.sessions++
		if o.State != SessionIdle {
			s.done.busy = append(s.done.busy, id)
		}
	case b == nil: // the session itself is lost
	case k[0] == prefixTurn && len(k) == 5:
		if o, err := decodeObject[Turn](v); err == nil && o.ID != "" { // at its old ordinal, which details and texts refer to
			_ = s.tx.Bucket(bucketTurns).Put([]byte(o.ID), turnRef{session: id, ordinal: ordinalOf(k)}.encode())
		}
		salvageObject(s, func(o *Turn) string { return o.Workspace }, func(o *Turn, n uint64) { o.Seq = n }, v)
	case k[0] == prefixItem:
		salvageObject(s, func(o *Item) string { return o.Workspace }, func(o *Item, n uint64) { o.Seq = n }, v)
	case k[0] == prefixApproval:
		salvageObject(s, func(o *Approval) string { return o.Workspace }, func(o *Approval, n uint64) { o.Seq = n }, v)
	case k[0] == prefixDetail && len(k) == 9 && b.Get(append([]byte{prefixItem}, k[1:]...)) != nil:
		if s.refer(v) {
			_ = b.Put(k, v)
		}
	case k[0] == prefixText && len(k) == 17 && b.Get(append([]byte{prefixItem}, k[1:9]...)) != nil:
		_ = b.Put(k, v)
	}
}

func (s *salvager) inWorkspace(path []string, k, v []byte) {
	w, err := openSpace(s.tx, path[1])
	if err != nil {
		return
	}
	if len(path) == 2 {
		switch string(k) {
		case string(keyTrusted):
			_ = w.applyOne(SetTrust{Trusted: true})
		case string(keyForgotten):
			_ = w.b.Put(keyForgotten, v)
		case string(keyClaims):
			_ = w.applyOne(SetClaims{Hashes: claimsOf(v)})
		case string(keySeq):
			_ = w.raise(number(v))
		}
		return
	}
	switch path[2] {
	case string(bucketDiffs):
		salvageObject(s, func(*Diff) string { return w.root }, func(o *Diff, n uint64) { o.Seq = n }, v)
	case string(bucketReviews):
		s.holder(w, w.b.Bucket(bucketReviews), k, v)
	case string(bucketIntents):
		if b, err := w.b.CreateBucketIfNotExists(bucketIntents); err == nil && len(k) == 8 {
			s.holder(w, b, k, v)
		}
	case string(bucketRules):
		if len(k) == 8 {
			_ = w.putRule(PutRule{number(k), v})
		}
	case string(bucketAnswers):
		_ = w.putAnswer(string(k), v)
	case string(bucketDecisions), string(bucketNotes):
		if len(k) == 8 {
			_ = putNumbered(w.b.Bucket([]byte(path[2])), number(k), v)
		}
	}
}

// holder takes over a review or an intent if all its contents were taken over: it is of no use without them.
func (s *salvager) holder(w space, b *bolt.Bucket, k, v []byte) {
	h, err := decodeHolder(v)
	if err != nil {
		return
	}
	for _, key := range h.blobs {
		if s.tx.Bucket(bucketBlobs).Get(key[:]) == nil {
			return
		}
	}
	for _, key := range h.blobs {
		s.refer(key[:])
	}
	_ = w.setHolder(b, k, h)
}
