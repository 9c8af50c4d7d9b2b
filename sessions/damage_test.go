package sessions

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
)

// Damages is used by the tests of both packages.
var Damages = flag.Int("damages", 1, "how many times as many damages and kills the store is to survive")

const damagedRoot = "/w"

// fillDamageable makes a closed database with objects of all kinds; two turns are left running.
func fillDamageable(t *testing.T, path string) {
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	seq := uint64(0)
	put := func(o Object) Op { return Put{Object: o} }
	next := func() uint64 { seq++; return seq }
	now := Now()
	var ops []Op
	for i := range 3 {
		id, turn := fmt.Sprintf("s%d", i), fmt.Sprintf("t%d", i)
		status := TurnRunning
		if i == 0 {
			status = TurnCompleted
		}
		ops = append(ops,
			put(&Session{ID: id, Workspace: damagedRoot, Title: "größer", Mode: ModeAgent, Isolation: "none", State: SessionIdle, UpdatedAt: now, CreatedAt: now, Seq: next()}),
			put(&Turn{ID: turn, SessionID: id, Workspace: damagedRoot, Prompt: "do it", Mode: ModeAgent, Status: status, CreatedAt: now, Seq: next()}),
			put(&Item{ID: ItemID(turn, 0), TurnID: turn, SessionID: id, Workspace: damagedRoot, Kind: ItemAssistant, Status: ItemCompleted, Text: "schön", StartedAt: now, Seq: next()}))
		if status == TurnRunning {
			ops = append(ops,
				put(&Item{ID: ItemID(turn, 1), TurnID: turn, SessionID: id, Workspace: damagedRoot, Index: 1, Kind: ItemAssistant, Status: ItemRunning, StartedAt: now, Seq: next()}),
				AppendText{ItemID: ItemID(turn, 1), Text: "half a sen"})
		}
		ops = append(ops, put(&Approval{ID: ApprovalID("a", turn), TurnID: turn, SessionID: id, Workspace: damagedRoot, Kind: ApprovalPlan, Title: "können", Status: ApprovalAnswered, CreatedAt: now, Seq: next()}))
		ops = append(ops, put(&Diff{Workspace: damagedRoot, Path: fmt.Sprintf("f%d", i), State: "pending", Baseline: "known", Rev: 3, Seq: next()}))
	}
	s.Submit(damagedRoot, ops, nil)
	require.NoError(t, s.Close())
}

// objectKeys returns the places of a database's objects.
func objectKeys(t *testing.T, path string) (all []objectKey) {
	change(t, path, func(tx *bolt.Tx) error {
		sessions := tx.Bucket(bucketSessions)
		err := sessions.ForEachBucket(func(id []byte) error {
			return sessions.Bucket(id).ForEach(func(k, v []byte) error {
				if k[0] == keySession[0] || k[0] == prefixTurn || k[0] == prefixItem || k[0] == prefixApproval {
					all = append(all, objectKey{session: string(id), key: bytes.Clone(k)})
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		return spaceBucket(tx, damagedRoot).Bucket(bucketDiffs).ForEach(func(k, v []byte) error {
			all = append(all, objectKey{root: damagedRoot, key: bytes.Clone(k)})
			return nil
		})
	})
	return all
}

func change(t *testing.T, path string, f func(*bolt.Tx) error) {
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(f))
	require.NoError(t, db.Close())
}

// readAll reads everything in a store in all ways, and returns the objects by kind and id.
func readAll(t *testing.T, s *Store) map[string]string {
	got := map[string]string{}
	saw := func(kind Kind, id string, raw []byte) {
		require.True(t, json.Valid(raw) && utf8.Valid(raw), "%s %s: %q", kind, id, raw)
		name := string(kind) + " " + id
		if was, ok := got[name]; ok {
			require.JSONEq(t, was, string(raw), name)
		}
		got[name] = string(raw)
	}
	object := func(o Object, err error) {
		require.NoError(t, err)
		raw, err := json.Marshal(o)
		require.NoError(t, err)
		kind, id := o.Key()
		saw(kind, id, raw)
	}
	list, _, err := s.SessionsJSON("", "", 0)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, raw := range list {
		var one Session
		require.NoError(t, json.Unmarshal(raw, &one))
		saw(KindSession, one.ID, raw)
		object(s.Session(one.ID))
		last, err := s.LastTurn(one.ID)
		object(last, err)
		turns, items, _, err := s.Transcript(one.ID, "", 0)
		require.NoError(t, err)
		require.Len(t, turns, 1)
		for _, x := range turns {
			object(x, nil)
			object(s.Turn(x.ID))
			entries, err := s.TurnItems(x.ID)
			require.NoError(t, err)
			require.Len(t, entries, len(items))
			for _, e := range entries {
				saw(e.Kind, e.ID, e.JSON)
			}
		}
		for _, x := range items {
			object(x, nil)
			object(s.Item(x.ID))
		}
		object(s.Approval(ApprovalID("a", turns[0].ID)))
		parts, _, err := s.Parts(one.ID, Place{})
		require.NoError(t, err)
		require.Len(t, parts, 1+len(items))
	}
	_, _, err = s.Sessions(damagedRoot, "", 0)
	require.NoError(t, err)
	pending, err := s.PendingDiffs(damagedRoot)
	require.NoError(t, err)
	for _, d := range pending {
		object(d, nil)
	}
	for i := range 3 {
		object(s.Diff(damagedRoot, fmt.Sprintf("f%d", i)))
	}
	changes, err := s.Changes(damagedRoot, 0, 0)
	require.NoError(t, err)
	for _, e := range changes {
		saw(e.Kind, e.ID, e.JSON)
		again, err := s.Entry(damagedRoot, e.Kind, e.ID)
		require.NoError(t, err)
		require.Equal(t, e, again)
		var seq struct{ Seq uint64 }
		require.NoError(t, json.Unmarshal(e.JSON, &seq))
		require.Equal(t, e.Seq, seq.Seq)
	}
	require.Len(t, changes, len(got), "each object is among the changes")
	return got
}

// TestDamagedObjectIsSetAside damages each object of a database in turn, in one byte or a few. It is set aside and reported
// once, and all others are served unchanged in every way, also in a database that was not closed.
func TestDamagedObjectIsSetAside(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "db")
	fillDamageable(t, whole)
	all := objectKeys(t, whole)
	require.Len(t, all, 3*5+2)
	r := rand.New(rand.NewPCG(14, 4))
	for _, ended := range []bool{false, true} {
		if ended {
			s, _, err := Open(whole, Options{})
			require.NoError(t, err)
			require.NoError(t, s.Close())
		}
		original, err := os.ReadFile(whole)
		require.NoError(t, err)
		for n := range (1 + *Damages) * len(all) {
			at := all[n%len(all)]
			path := filepath.Join(t.TempDir(), "db")
			require.NoError(t, os.WriteFile(path, original, 0o600))
			var raw []byte
			change(t, path, func(tx *bolt.Tx) error {
				b := at.bucket(tx)
				raw = bytes.Clone(b.Get(at.key))
				from, many := 0, 1
				if n >= len(all) {
					from, many = r.IntN(len(raw)), 1+r.IntN(3)
				} else { // the seq
					from = 8
				}
				for i := from; i < min(len(raw), from+many); i++ {
					raw[i] ^= byte(1 + r.IntN(255))
				}
				return b.Put(at.key, raw)
			})
			what := fmt.Sprintf("%v, ended %v: %q", at, ended, raw)
			damage := make(chan Damage, 10)
			s, report, err := Open(path, Options{OnDamage: func(d Damage) { damage <- d }})
			require.NoError(t, err, what)
			require.Empty(t, report.MovedAside, what)
			got := readAll(t, s)
			require.Len(t, got, len(all), what)
			d := <-damage
			require.Equal(t, at.kind(), d.Kind, what)
			require.Equal(t, damagedRoot, d.Workspace, what)
			count, err := s.Damaged()
			require.NoError(t, err)
			require.Equal(t, 1, count, what)
			require.Equal(t, got, readAll(t, s), what)
			for name, raw := range got {
				if name == string(d.Kind)+" "+d.ID {
					require.Contains(t, raw, map[Kind]string{KindSession: damagedTitle, KindTurn: damagedTitle, KindItem: damagedText, KindApproval: damagedText, KindDiff: `"unknown"`}[d.Kind], what)
				} else {
					require.NotContains(t, raw, "damaged", what)
				}
			}
			require.NoError(t, s.Close())
			require.Empty(t, damage, what)

			s, _, err = Open(path, Options{OnDamage: func(d Damage) { damage <- d }})
			require.NoError(t, err, what)
			require.Equal(t, got, readAll(t, s), what)
			for i := range 3 { // a deletion removes all its records
				s.Submit(damagedRoot, []Op{RemoveSession{ID: fmt.Sprintf("s%d", i), Seq: uint64(100 + i)}}, nil)
			}
			s.Submit(damagedRoot, []Op{Put{Object: &Diff{Workspace: damagedRoot, Path: "f1", State: "clean", Seq: 103}}}, nil)
			require.NoError(t, s.Close())
			require.Empty(t, damage, what)
			change(t, path, func(tx *bolt.Tx) error {
				require.Equal(t, 6, spaceBucket(tx, damagedRoot).Bucket(bucketChanges).Stats().KeyN, what)
				require.Zero(t, tx.Bucket(bucketTurns).Stats().KeyN, what)
				aside := tx.Bucket(bucketDamaged).Get(be64(1))
				require.True(t, bytes.HasSuffix(aside, append([]byte{0}, raw...)), what)
				return nil
			})
		}
	}
}

// TestObjectsWithoutChecksums: objects of older versions are served, and visible damage to them is found.
func TestObjectsWithoutChecksums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	fillDamageable(t, path)
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	want := readAll(t, s)
	require.NoError(t, s.Close())
	all := objectKeys(t, path)
	change(t, path, func(tx *bolt.Tx) error {
		for _, at := range all {
			st, err := decodeStored(at.bucket(tx).Get(at.key))
			require.NoError(t, err)
			raw := append(append([]byte{st.flags}, be64(st.seq)...), st.json...)
			require.NoError(t, at.bucket(tx).Put(at.key, raw))
		}
		return tx.Bucket(bucketMeta).Put(keySchema, be64(1))
	})
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	require.Equal(t, want, readAll(t, s))
	require.NoError(t, s.Close())
	for i, damage := range []byte{0, 0xff, '"', ','} {
		at := all[i*3]
		change(t, path, func(tx *bolt.Tx) error {
			raw := bytes.Clone(at.bucket(tx).Get(at.key))
			raw[storedHeader+3] = damage
			return at.bucket(tx).Put(at.key, raw)
		})
	}
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	require.Len(t, readAll(t, s), len(want))
	require.NoError(t, s.Close())
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	n, err := s.Damaged()
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.NoError(t, s.Close())
}

// TestDamagedContent changes a stored content to which a review refers: reading it is an error.
func TestDamagedContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	s.Submit(damagedRoot, []Op{PutReview{Path: "f", State: []byte("{}"), Blobs: [][]byte{[]byte("one"), []byte("two")}}}, nil)
	require.NoError(t, s.Close())
	change(t, path, func(tx *bolt.Tx) error {
		k, _ := parseBlobID(BlobID([]byte("one")))
		return tx.Bucket(bucketBlobs).Put(k[:], []byte("onE"))
	})
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	_, err = s.Blob(BlobID([]byte("one")))
	require.ErrorIs(t, err, ErrContent)
	two, err := s.Blob(BlobID([]byte("two")))
	require.NoError(t, err)
	require.Equal(t, "two", string(two))
	require.NoError(t, s.Close())
}

// TestDamagedReview damages a review and an intent: they have no state, and are set aside when they are dropped.
func TestDamagedReview(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	state := []byte(`{"n":1}`)
	s.Submit(damagedRoot, []Op{PutReview{Path: "f", State: state}, PutReview{Path: "g", State: state}, PutIntent{N: 1, Data: state}}, nil)
	require.NoError(t, s.Close())
	change(t, path, func(tx *bolt.Tx) error {
		w := spaceBucket(tx, damagedRoot)
		for bucket, key := range map[string][]byte{string(bucketReviews): []byte("f"), string(bucketIntents): be64(1)} {
			raw := bytes.Clone(w.Bucket([]byte(bucket)).Get(key))
			raw[len(raw)-2]++
			require.NoError(t, w.Bucket([]byte(bucket)).Put(key, raw))
		}
		return nil
	})
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	reviews, err := s.Reviews(damagedRoot)
	require.NoError(t, err)
	require.Equal(t, []ReviewRecord{{Path: "f"}, {Path: "g", State: state}}, reviews)
	intents, err := s.Intents(damagedRoot)
	require.NoError(t, err)
	require.Equal(t, []Numbered{{N: 1}}, intents)
	stored := make(chan error)
	s.Submit(damagedRoot, []Op{DropReview{Path: "f"}, DropReview{Path: "g"}, DropIntent{N: 1}}, func(err error) { stored <- err })
	require.NoError(t, <-stored)
	n, err := s.Damaged()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, s.Close())
}

// TestDamagedSeq lowers the stored highest seq of a workspace: no seq is used twice.
func TestDamagedSeq(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	fillDamageable(t, path)
	change(t, path, func(tx *bolt.Tx) error { return spaceBucket(tx, damagedRoot).Put(keySeq, be64(3)) })
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	require.Len(t, readAll(t, s), 3*5+2, "the ends of turns have taken the place of nothing")
	changes, err := s.Changes(damagedRoot, 0, 0)
	require.NoError(t, err)
	w, err := s.Workspace(damagedRoot)
	require.NoError(t, err)
	require.Equal(t, changes[len(changes)-1].Seq, w.Seq)
	require.NoError(t, s.Close())
}
