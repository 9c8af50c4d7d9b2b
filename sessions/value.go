package sessions

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// A stored object is a byte of flags, its seq, a checksum and its JSON: the store reads what it needs without decoding the
// JSON. Versions before schema 2 wrote no checksum.
type stored struct {
	flags  byte
	seq    uint64
	summed bool
	json   []byte
}

const (
	flagActive  = 1 << iota // a turn that has not ended, an item that runs, an approval that is pending
	flagPending             // a diff with something to review
	flagSum                 // a checksum follows the seq
)

const (
	storedHeader = 1 + 8
	sumSize      = 4
)

var errStored = errors.New("not a stored object")

// encode adds the checksum.
func (s stored) encode() []byte {
	b := make([]byte, 0, storedHeader+sumSize+len(s.json))
	b = binary.BigEndian.AppendUint64(append(b, s.flags|flagSum), s.seq)
	b = append(append(b, make([]byte, sumSize)...), s.json...)
	binary.BigEndian.PutUint32(b[storedHeader:], checksum(b))
	return b
}

// castagnoli is the CRC that processors have an instruction for: some 10 GB a second. Its table takes a fifth of
// a millisecond to make, and most processes are clients that need none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// checksum is the checksum of a stored form that has room for one; that room does not count.
func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:storedHeader], castagnoli()), castagnoli(), b[storedHeader+sumSize:])
}

// intact reports whether a stored form has a checksum that is right.
func intact(b []byte) bool {
	return len(b) >= storedHeader+sumSize && b[0]&flagSum != 0 && binary.BigEndian.Uint32(b[storedHeader:]) == checksum(b)
}

// decodeStored decodes a stored form, sharing b's memory. It does not check the checksum; soundFor does.
func decodeStored(b []byte) (stored, error) {
	if len(b) < storedHeader {
		return stored{}, errStored
	}
	s := stored{flags: b[0] &^ flagSum, seq: binary.BigEndian.Uint64(b[1:]), json: b[storedHeader:]}
	if b[0]&flagSum == 0 {
		return s, nil
	}
	if len(s.json) < sumSize {
		return stored{}, errStored
	}
	s.summed, s.json = true, s.json[sumSize:]
	return s, nil
}

// decodeObject decodes a stored object. Unknown fields stay only in the stored form.
func decodeObject[T any](b []byte) (*T, error) {
	s, err := decodeStored(b)
	if err != nil {
		return nil, err
	}
	o := new(T)
	if err := json.Unmarshal(s.json, o); err != nil {
		return nil, fmt.Errorf("%w: %w", errStored, err)
	}
	return o, nil
}

// flagsOf returns the flags that o is stored with.
func flagsOf(o Object) byte {
	switch o := o.(type) {
	case *Turn:
		if !o.Status.Final() {
			return flagActive
		}
	case *Item:
		if o.Status == ItemRunning {
			return flagActive
		}
	case *Approval:
		if o.Status == ApprovalPending {
			return flagActive
		}
	case *Diff:
		if o.State == "pending" {
			return flagPending
		}
	}
	return 0
}

// A holder is a review or an intent, which refer to blobs. It is stored as the number of its keys, a checksum, the keys and
// its state. Versions before schema 2 wrote no checksum.
type holder struct {
	blobs []blobKey
	state []byte
}

const holderSum = 1 << 40 // this bit of the number says that a checksum follows

func (h holder) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(h.blobs))|holderSum)
	at := len(b)
	b = append(b, make([]byte, sumSize)...)
	for _, k := range h.blobs {
		b = append(b, k[:]...)
	}
	b = append(b, h.state...)
	binary.BigEndian.PutUint32(b[at:], crc32.Checksum(b[at+sumSize:], castagnoli()))
	return b
}

var errHolder = errors.New("not a stored holder of contents")

// decodeHolder decodes a holder, sharing b's memory in state.
func decodeHolder(b []byte) (holder, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return holder{}, errHolder
	}
	b = b[size:]
	if n&holderSum != 0 {
		n &^= holderSum
		if len(b) < sumSize || binary.BigEndian.Uint32(b) != crc32.Checksum(b[sumSize:], castagnoli()) {
			return holder{}, errHolder
		}
		b = b[sumSize:]
	}
	if n > uint64(len(b))/uint64(len(blobKey{})) {
		return holder{}, errHolder
	}
	h := holder{blobs: make([]blobKey, n)}
	for i := range h.blobs {
		b = b[copy(h.blobs[i][:], b):]
	}
	h.state = b
	return h, nil
}

// A changed is an entry of the changes index: which object has the seq. The entry of a removed session stays for ever.
type changed struct {
	kind    Kind
	removed bool
	id      string
}

// The marks of objects that were removed.
const (
	removedMark     = 'X' // a session
	removedTurnMark = 'Y'
)

func (c changed) encode() []byte {
	mark := c.kind[0] // session, turn, item, diff and approval differ in their first letter
	switch {
	case c.removed && c.kind == KindTurn:
		mark = removedTurnMark
	case c.removed:
		mark = removedMark
	}
	return append([]byte{mark}, c.id...)
}

func decodeChanged(b []byte) (changed, bool) {
	if len(b) < 2 {
		return changed{}, false
	}
	id := string(b[1:])
	switch b[0] {
	case removedMark:
		return changed{KindSession, true, id}, true
	case removedTurnMark:
		return changed{KindTurn, true, id}, true
	case KindSession[0]:
		return changed{KindSession, false, id}, true
	case KindTurn[0]:
		return changed{KindTurn, false, id}, true
	case KindItem[0]:
		return changed{KindItem, false, id}, true
	case KindDiff[0]:
		return changed{KindDiff, false, id}, true
	case KindApproval[0]:
		return changed{KindApproval, false, id}, true
	}
	return changed{}, false
}
