// Package search is the search over the objects of a store: the index of each workspace, the making of it, and the search
// itself. It knows the bucket of an index and nothing else of the database; a Store says how it gets the rest.
package search

import (
	"bytes"
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/searchtext"
)

// The index of a workspace, in a bucket of its own:
//
//	c                  → the seq up to which changes are in segments
//	r                  → how many sessions were removed
//	s<to>              → a segment: what it covers, see segment
//	d<to><n>           → 256 of its documents, by their times: time and seq of each
//	t<to><first word>  → a block of its words with their documents, see package searchtext
//
// A segment is made of the objects whose seqs are in a range, as they were when it was made. An object that has changed
// since has another seq, and a removed one has none, so Search leaves out what is out of date by looking at the changes.
var (
	keyIndexed  = []byte("c")
	keyRemovals = []byte("r")
)

const (
	prefixSegment = 's'
	prefixDocs    = 'd'
	prefixBlock   = 't'
	docsInChunk   = 256
)

// A segment is a part of a workspace's index.
type segment struct {
	from, to    uint64 // it has objects with seqs above from, up to to
	weight      int    // of what it was made of
	docs        int
	first, last int64 // times of its oldest and its newest document, in milliseconds since 1970
	stale       bool  // a session that it has was removed, or words are others by now: it is to be made anew
}

// fresh ends the record of a segment that is not stale. One of another version of the words is stale: an earlier one ended with 0.
const fresh = searchtext.Version

func (s segment) encode() []byte {
	b := be64(s.from)
	for _, n := range []uint64{uint64(s.weight), uint64(s.docs), uint64(s.first), uint64(s.last)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	if s.stale {
		return append(b, 1)
	}
	return append(b, fresh)
}

func decodeSegment(k, v []byte) (s segment, ok bool) {
	if len(k) != 9 || len(v) != 41 {
		return s, false
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(v[8*i:]) }
	return segment{
		from: at(0), to: binary.BigEndian.Uint64(k[1:]), weight: int(at(1)), docs: int(at(2)), first: int64(at(3)), last: int64(at(4)), stale: v[40] != fresh,
	}, true
}

// segmentKey is the beginning of the keys of a segment.
func segmentKey(prefix byte, to uint64) []byte { return append([]byte{prefix}, be64(to)...) }

// segmentsOf returns a workspace's segments by their seqs, and the seq up to which there are some.
func segmentsOf(b *bolt.Bucket) (list []segment, indexed uint64) {
	if b == nil {
		return nil, 0
	}
	c := b.Cursor()
	for k, v := c.Seek([]byte{prefixSegment}); len(k) > 0 && k[0] == prefixSegment; k, v = c.Next() {
		if s, ok := decodeSegment(k, v); ok {
			list = append(list, s)
		}
	}
	return list, number(b.Get(keyIndexed))
}

// A Made is a segment that is to be stored.
type Made struct {
	segment
	removals uint64 // of the workspace when its objects were read
	keys     [][]byte
	values   [][]byte
	size     int // of keys and values
}

func (op *Made) add(key, value []byte) {
	op.keys, op.values = append(op.keys, key), append(op.values, value)
	op.size += len(key) + len(value)
}

// Size returns about how many bytes it takes.
func (op *Made) Size() int { return op.size }

// Store replaces the segments with objects in the range of the segment by it. One without documents is left out.
func (op Made) Store(b *bolt.Bucket) (err error) {
	old, indexed := segmentsOf(b)
	for _, s := range old {
		if s.from < op.to && op.from < s.to {
			for _, prefix := range []byte{prefixSegment, prefixDocs, prefixBlock} {
				err = errors.Join(err, deletePrefix(b, segmentKey(prefix, s.to)))
			}
		}
	}
	if err != nil {
		return err
	}
	if op.docs > 0 {
		op.stale = number(b.Get(keyRemovals)) != op.removals
		if err := b.Put(segmentKey(prefixSegment, op.to), op.encode()); err != nil {
			return err
		}
		for i, key := range op.keys {
			if err := b.Put(key, op.values[i]); err != nil {
				return err
			}
		}
	}
	if op.to <= indexed {
		return nil
	}
	return b.Put(keyIndexed, be64(op.to))
}

// A Removal marks the segments that have objects of a session which is being removed.
type Removal struct {
	b     *bolt.Bucket // nil: there is no index
	known []segment
}

// Remove begins a Removal in an index; b is nil if there is none.
func Remove(b *bolt.Bucket) (Removal, error) {
	if b == nil {
		return Removal{}, nil
	}
	list, _ := segmentsOf(b)
	return Removal{b, list}, b.Put(keyRemovals, be64(number(b.Get(keyRemovals))+1))
}

// Gone says that the object with a seq is removed.
func (st Removal) Gone(seq uint64) error {
	for i := range st.known {
		s := &st.known[i]
		if s.from < seq && seq <= s.to && !s.stale {
			s.stale = true
			return st.b.Put(segmentKey(prefixSegment, s.to), s.encode())
		}
	}
	return nil
}

// A document is a searchable object in a segment; its number there is its rank by time.
type document struct {
	at  int64 // its time, in milliseconds since 1970
	seq uint64
}

func encodeDocs(docs []document) []byte {
	var b []byte
	var last document
	for _, d := range docs {
		b = binary.AppendVarint(b, d.at-last.at)
		b = binary.AppendVarint(b, int64(d.seq-last.seq))
		last = d
	}
	return b
}

// decodeDocs appends a chunk's documents to docs.
func decodeDocs(docs []document, b []byte) []document {
	var last document
	for len(b) > 0 {
		at, n := binary.Varint(b)
		if n <= 0 {
			break
		}
		seq, m := binary.Varint(b[n:])
		if m <= 0 {
			break
		}
		last = document{last.at + at, last.seq + uint64(seq)}
		docs = append(docs, last)
		b = b[n+m:]
	}
	return docs
}

func chunkKey(to uint64, chunk int) []byte {
	return binary.BigEndian.AppendUint32(segmentKey(prefixDocs, to), uint32(chunk))
}

// seekBlock places c on the block of a segment in which a word may be.
func seekBlock(c *bolt.Cursor, to uint64, word string) (k, v []byte) {
	prefix := segmentKey(prefixBlock, to)
	key := append(bytes.Clone(prefix), word...)
	k, v = c.Seek(key)
	if bytes.Equal(k, key) {
		return k, v
	}
	if k == nil {
		k, v = c.Last()
	} else {
		k, v = c.Prev()
	}
	if !bytes.HasPrefix(k, prefix) { // the word is before the first of the segment
		k, v = c.Seek(prefix)
	}
	return k, v
}

func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// number reads what be64 wrote; anything else, nil too, is 0.
func number(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// deletePrefix deletes the keys that have a prefix. It collects them first, because a deletion moves the cursor past others.
func deletePrefix(b *bolt.Bucket, prefix []byte) error {
	var doomed [][]byte
	c := b.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		doomed = append(doomed, k)
	}
	for _, k := range doomed {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
