package sessions

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	bolt "go.etcd.io/bbolt"
)

// The layout. Numbers are big-endian, so that keys sort by them; "stored" is the form in value.go.
//
//	meta              schema → number, epoch → ULID
//	sessions/<id>     one bucket holds all of a session, so that deleting it is one call:
//	                  a → the session, stored       u → its time of update    w → its workspace
//	                  b<turn> → turn, stored        turn: the ordinal of the turn in the session, 4 bytes
//	                  c<turn><index> → item, stored
//	                  d<turn><index> → blob key of the item's uncut tool
//	                  e<turn><index><offset> → text of a running item
//	                  f<turn><tag> → approval, stored
//	turns             turn id → ordinal, session id
//	active            turn id → nothing, for turns that have not ended: what recovery looks at
//	removed           session id → seq, workspace
//	filling           session id → nothing, for sessions that are being made (fill.go): made when it is needed
//	recent            <time of update><session id> → nothing
//	workspaces/<root> seq → the highest ever given out, sessions → their number, claims → hashes; trusted and forgotten,
//	                  if they hold → 1
//	                  changes/<seq> → kind, id: one entry for each object of the workspace, and for each removed one
//	                  diffs/<path> → diff, stored   reviews/<path> → blob keys, state; or, of the path in the
//	                  copy of a session, reviews/<0><session><0><path>: no path begins with 0
//	                  decisions/<n>, notes/<n> → data
//	                  intents/<n> → blob keys, data; rules/<n>, answers/<commit> → data; index: see package search;
//	                  these four are made when they are needed
//	                  recent: as above
//	damaged           n → what it was, 0, an object in its stored form that was damaged: made when it is needed
//	blobs, refs       SHA-256 → content, number of references
//
// The letters in a session's bucket and the names of the buckets are such that a walk in key order, as salvage does it, meets
// a thing before what depends on it.
var (
	bucketMeta       = []byte("meta")
	bucketSessions   = []byte("sessions")
	bucketTurns      = []byte("turns")
	bucketActive     = []byte("active")
	bucketRemoved    = []byte("removed")
	bucketRecent     = []byte("recent")
	bucketWorkspaces = []byte("workspaces")
	bucketBlobs      = []byte("blobs")
	bucketRefs       = []byte("refs")

	bucketChanges   = []byte("changes")
	bucketDiffs     = []byte("diffs")
	bucketReviews   = []byte("reviews")
	bucketIntents   = []byte("intents")
	bucketDecisions = []byte("decisions")
	bucketNotes     = []byte("notes")
	bucketRules     = []byte("rules")
	bucketAnswers   = []byte("answers")

	keySchema    = []byte("schema")
	keyEpoch     = []byte("epoch")
	keySeq       = []byte("seq")
	keyTrusted   = []byte("trusted")
	keyClaims    = []byte("claims")
	keyForgotten = []byte("forgotten")
	keyCount     = []byte("sessions")
	keySession   = []byte("a")
	keyUpdated   = []byte("u")
	keyWorkspace = []byte("w")
)

const (
	prefixTurn   = 'b'
	prefixItem   = 'c'
	prefixDetail = 'd'
	prefixText   = 'e'

	prefixApproval = 'f'
)

// Buckets that are mostly appended to are filled more than bbolt's half, which suits random keys. bbolt does not store the
// setting, so each transaction sets it.
const appendFill = 0.9

// A migration brings the layout from one version to the next. All migrations of a database run in one transaction.
type migration func(*bolt.Tx) error

// migrations returns the steps from version 1 on: the i-th makes version i+2.
//
//	2: objects have checksums. What is stored already keeps its form until it is stored again.
func migrations() []migration {
	return []migration{func(*bolt.Tx) error { return nil }}
}

// prepareSchema lays out an empty database or migrates an old one, and returns its epoch.
func prepareSchema(db *bolt.DB, steps []migration) (epoch string, err error) {
	want := uint64(len(steps)) + 1
	var have uint64
	var empty bool
	err = db.View(func(tx *bolt.Tx) error {
		if k, _ := tx.Cursor().First(); k == nil {
			empty = true
			return nil
		}
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			return errForeign
		}
		have, epoch = number(meta.Get(keySchema)), string(meta.Get(keyEpoch))
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case empty:
		return createSchema(db, want)
	case have == 0 || epoch == "":
		return "", errForeign
	case have > want:
		return "", fmt.Errorf("%w (its schema is %d, this version knows %d)", ErrNewerSchema, have, want)
	case have == want:
		return epoch, nil
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for v := have; v < want; v++ {
			if err := steps[v-1](tx); err != nil {
				return fmt.Errorf("migrating the database from schema %d to %d: %w", v, v+1, err)
			}
		}
		return tx.Bucket(bucketMeta).Put(keySchema, be64(want))
	})
	return epoch, err
}

var errForeign = errors.New("the database belongs to another program: choose another state directory with CURSORD_STATE_DIR")

func createSchema(db *bolt.DB, version uint64) (epoch string, err error) {
	epoch = ulid.Make().String()
	return epoch, db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{
			bucketMeta, bucketSessions, bucketTurns, bucketActive, bucketRemoved, bucketRecent, bucketWorkspaces, bucketBlobs, bucketRefs,
		} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		meta := tx.Bucket(bucketMeta)
		if err := meta.Put(keySchema, be64(version)); err != nil {
			return err
		}
		return meta.Put(keyEpoch, []byte(epoch))
	})
}

func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// number reads what be64 wrote; anything else, nil too, is 0.
func number(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// A turnRef is the place of a turn: its session, and its ordinal there.
type turnRef struct {
	session string
	ordinal uint32
}

func (r turnRef) encode() []byte {
	return append(binary.BigEndian.AppendUint32(nil, r.ordinal), r.session...)
}

func decodeTurnRef(b []byte) (turnRef, bool) {
	if len(b) <= 4 {
		return turnRef{}, false
	}
	return turnRef{session: string(b[4:]), ordinal: binary.BigEndian.Uint32(b)}, true
}

func turnKey(ordinal uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefixTurn}, ordinal)
}

// itemKey makes the key of an item or of its detail, and the prefix of the keys of its texts.
func itemKey(prefix byte, ordinal, index uint32) []byte {
	b := make([]byte, 0, 17) // room for a text's offset
	b = binary.BigEndian.AppendUint32(append(b, prefix), ordinal)
	return binary.BigEndian.AppendUint32(b, index)
}

// splitItemID takes an ItemID apart. The turn's id may have colons, because clients make it.
func splitItemID(id string) (turn string, index uint32, ok bool) {
	i := strings.LastIndexByte(id, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(id[i+1:], 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != id[i+1:] {
		return "", 0, false
	}
	return id[:i], uint32(n), true
}

// updatedKey orders times, also those before 1970.
func updatedKey(t Time) []byte { return be64(uint64(t.UnixMilli()) ^ 1<<63) }

// timeOfKey returns the time of an updatedKey.
func timeOfKey(k []byte) Time { return Time{time.UnixMilli(int64(number(k) ^ 1<<63)).UTC()} }

func recentKey(updated []byte, session string) []byte {
	return append(append(make([]byte, 0, len(updated)+len(session)), updated...), session...)
}

// A blobKey is a SHA-256.
type blobKey [32]byte

func parseBlobID(id string) (k blobKey, ok bool) {
	if len(id) != 2*len(k) || strings.ToLower(id) != id {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(id))
	return k, err == nil
}

// ItemID returns the id of a turn's item.
func ItemID(turn string, index int) string { return turn + ":" + strconv.Itoa(index) }
