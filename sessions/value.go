package sessions

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// A stored object is a byte of flags, its seq and its JSON: what the store itself needs is read without decoding.
type stored struct {
	flags byte
	seq   uint64
	json  []byte
}

const (
	flagActive  = 1 << iota // a turn that has not ended, an item that runs
	flagPending             // a diff with something to review
)

const storedHeader = 1 + 8

var errStored = errors.New("not a stored object")

func (s stored) encode() []byte {
	b := make([]byte, 0, storedHeader+len(s.json))
	b = binary.BigEndian.AppendUint64(append(b, s.flags), s.seq)
	return append(b, s.json...)
}

// decodeStored shares b's memory.
func decodeStored(b []byte) (stored, error) {
	if len(b) < storedHeader {
		return stored{}, errStored
	}
	return stored{flags: b[0], seq: binary.BigEndian.Uint64(b[1:]), json: b[storedHeader:]}, nil
}

// decodeObject reads the JSON of a stored object. Fields it does not know stay in the stored form alone.
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
	case *Diff:
		if o.State == "pending" {
			return flagPending
		}
	}
	return 0
}

// A holder is what refers to blobs, a review or an intent. It is stored as their number, their keys and its state.
type holder struct {
	blobs []blobKey
	state []byte
}

func (h holder) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(h.blobs)))
	for _, k := range h.blobs {
		b = append(b, k[:]...)
	}
	return append(b, h.state...)
}

var errHolder = errors.New("not a stored holder of contents")

// decodeHolder shares b's memory in state.
func decodeHolder(b []byte) (holder, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size)/uint64(len(blobKey{})) {
		return holder{}, errHolder
	}
	b = b[size:]
	h := holder{blobs: make([]blobKey, n)}
	for i := range h.blobs {
		b = b[copy(h.blobs[i][:], b):]
	}
	h.state = b
	return h, nil
}

// A changed is an entry of the changes index: which object has the seq. A removed session's stays for ever.
type changed struct {
	kind    Kind
	removed bool
	id      string
}

const removedMark = 'X'

func (c changed) encode() []byte {
	mark := c.kind[0] // session, turn, item and diff differ in their first letter
	if c.removed {
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
	case KindSession[0]:
		return changed{KindSession, false, id}, true
	case KindTurn[0]:
		return changed{KindTurn, false, id}, true
	case KindItem[0]:
		return changed{KindItem, false, id}, true
	case KindDiff[0]:
		return changed{KindDiff, false, id}, true
	}
	return changed{}, false
}
