package searchtext

import (
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// A Builder makes the postings of a segment: for each word, the documents that have it. Documents have numbers from 0.
type Builder struct {
	postings map[string]*posting
	docs     int
}

type posting struct {
	last   int    // the last document in list
	deltas []byte // uvarints; the first is the document, each other one its distance from the one before
}

// NewBuilder returns a Builder without documents.
func NewBuilder() *Builder { return &Builder{postings: map[string]*posting{}} }

// Add adds a document with its texts.
func (b *Builder) Add(texts ...string) {
	doc := b.docs
	b.docs++
	for _, text := range texts {
		words(NewText(text).folded, func(w string) {
			p := b.postings[w]
			switch {
			case p == nil:
				p = &posting{}
				b.postings[strings.Clone(w)] = p
				p.deltas = binary.AppendUvarint(p.deltas, uint64(doc))
			case p.last == doc:
				return
			default:
				p.deltas = binary.AppendUvarint(p.deltas, uint64(doc-p.last))
			}
			p.last = doc
		})
	}
}

// blockBytes is the size at which a block ends.
const blockBytes = 1200

// Blocks yields the segment's blocks, each by its first word, in order. A block is a run of words, each of which is
// written as the length of what it shares with the one before, its rest, and its postings.
func (b *Builder) Blocks() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		var block []byte
		first, before := "", ""
		for _, w := range slices.Sorted(maps.Keys(b.postings)) {
			if len(block) >= blockBytes {
				if !yield(first, block) {
					return
				}
				block, before = nil, ""
			}
			if block == nil {
				first = w
			}
			shared := 0
			for shared < len(w) && shared < len(before) && w[shared] == before[shared] {
				shared++
			}
			p := b.postings[w].deltas
			block = binary.AppendUvarint(block, uint64(shared))
			block = binary.AppendUvarint(block, uint64(len(w)-shared))
			block = append(block, w[shared:]...)
			block = binary.AppendUvarint(block, uint64(len(p)))
			block = append(block, p...)
			before = w
		}
		if block != nil {
			yield(first, block)
		}
	}
}

// A Set is a set of a segment's documents.
type Set []uint64

// NewSet returns an empty set for a number of documents.
func NewSet(docs int) Set { return make(Set, (docs+63)/64) }

func (s Set) add(doc int) {
	if doc/64 < len(s) {
		s[doc/64] |= 1 << (doc % 64)
	}
}

// And removes what other does not have, and reports whether something is left.
func (s Set) And(other Set) bool {
	left := false
	for i := range s {
		s[i] &= other[i]
		left = left || s[i] != 0
	}
	return left
}

// Below returns the highest document below a number, or -1.
func (s Set) Below(doc int) int {
	doc = min(doc, 64*len(s))
	for doc > 0 {
		i := (doc - 1) / 64
		word := s[i]
		if rest := doc - 64*i; rest < 64 {
			word &= 1<<rest - 1
		}
		if word != 0 {
			return 64*i + 63 - bits.LeadingZeros64(word)
		}
		doc = 64 * i
	}
	return -1
}

var errBlock = errors.New("a block of the search index is damaged")

// Read adds to set the documents of a block that have a word. more reports that the block after it may have it too.
func (w Word) Read(block []byte, set Set) (more bool, err error) {
	before := make([]byte, 0, MaxWord)
	number := func() (int, bool) {
		n, size := binary.Uvarint(block)
		if size <= 0 || n > 1<<31 {
			return 0, false
		}
		block = block[size:]
		return int(n), true
	}
	for len(block) > 0 {
		shared, ok1 := number()
		rest, ok2 := number()
		if !ok1 || !ok2 || shared > len(before) || rest > len(block) {
			return false, errBlock
		}
		before = append(before[:shared], block[:rest]...)
		block = block[rest:]
		size, ok := number()
		if !ok || size > len(block) {
			return false, errBlock
		}
		list := block[:size]
		block = block[size:]
		switch {
		case string(before) == w.Text || w.Prefix && strings.HasPrefix(string(before), w.Text):
			doc := 0
			for len(list) > 0 {
				n, size := binary.Uvarint(list)
				if size <= 0 {
					return false, errBlock
				}
				list = list[size:]
				doc += int(n)
				set.add(doc)
			}
		case string(before) > w.Text:
			return false, nil
		}
	}
	return true, nil
}
