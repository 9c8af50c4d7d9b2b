package search

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/searchtext"
)

// Small and Large are how much a segment is made of: bytes of text, and what objects weigh beside it. What is in no segment yet, the search reads
// itself, so that is bounded by Small. Once there are enough small ones, a large one replaces them.
const (
	Small        = 256 << 10
	Large        = 4 << 20
	objectWeight = 100
)

// An Indexer makes the segments of a store.
type Indexer struct {
	Store
	Small, Large int
	Stop         func() error // returns why no more segments may be made, or nil
	Busy         func() bool  // reports whether others write

	mu    sync.Mutex
	bytes map[string]int // guarded by mu; how much was stored in a workspace and may not be in its index
	busy  bool           // guarded by mu; a segment is being made
	wake  chan struct{}  // some of it is enough for a segment; of capacity 1
}

// NewIndexer returns an Indexer with nothing to do.
func NewIndexer(of Store) *Indexer {
	return &Indexer{Store: of, bytes: map[string]int{}, wake: make(chan struct{}, 1)}
}

// Run makes segments of what is committed until quit is closed. Nobody waits for it, so it rests after each: longer while
// others write.
func (x *Indexer) Run(quit <-chan struct{}) {
	for {
		began := time.Now()
		root, ok := x.next()
		if !ok {
			select {
			case <-x.wake:
				continue
			case <-quit:
				return
			}
		}
		if x.some(root) {
			x.Stored(root, x.Small)
		}
		rest := min(time.Since(began), time.Second) / 2
		if x.Busy() {
			rest = min(40*rest, 5*time.Second)
		}
		select {
		case <-time.After(rest):
		case <-quit:
			return
		}
	}
}

// Stored says that bytes were stored in a workspace.
func (x *Indexer) Stored(root string, size int) {
	x.mu.Lock()
	x.bytes[root] += size
	enough := x.bytes[root] >= x.Small
	x.mu.Unlock()
	if !enough {
		return
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// next returns a workspace with enough for a segment.
func (x *Indexer) next() (root string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for root, n := range x.bytes {
		if n >= x.Small {
			delete(x.bytes, root)
			x.busy = true
			return root, true
		}
	}
	x.busy = false
	return "", false
}

// Waits reports whether something is to be made into a segment.
func (x *Indexer) Waits() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range x.bytes {
		if n >= x.Small {
			return true
		}
	}
	return x.busy
}

// some makes one segment of a workspace, if there is enough for one, and reports whether there may be enough for
// another.
func (x *Indexer) some(root string) (more bool) {
	var list []segment
	var indexed, removals uint64
	err := x.Read(root, func(b *bolt.Bucket) error {
		if b != nil {
			list, indexed = segmentsOf(b)
			removals = number(b.Get(keyRemovals))
		}
		return nil
	})
	if err != nil {
		return false
	}
	if i := slices.IndexFunc(list, func(seg segment) bool { return seg.stale }); i >= 0 {
		op, _, err := x.make(root, list[i].from, list[i].to)
		return err == nil && x.put(root, op, removals)
	}
	op, whole, err := x.make(root, indexed, 0)
	if err != nil || op.weight < x.Small {
		return false
	}
	// The small segments at the end, together with the new one, may make a large one.
	from, weight := op.from, op.weight
	for _, seg := range slices.Backward(list) {
		if weight >= x.Large || seg.weight >= x.Large/2 {
			break
		}
		from, weight = seg.from, weight+seg.weight
	}
	if from < op.from && weight >= x.Large {
		if op, _, err = x.make(root, from, op.to); err != nil {
			return false
		}
	}
	return x.put(root, op, removals) && !whole
}

// put stores a segment, and reports whether it could.
func (x *Indexer) put(root string, op *Made, removals uint64) bool {
	op.removals = removals
	return x.Stop() == nil && x.Put(root, *op) == nil
}

// make makes a segment of a workspace's objects with seqs above from, up to to; with to 0 of as many as a large one
// has, and whole reports that there are no more.
func (x *Indexer) make(root string, from, to uint64) (_ *Made, whole bool, err error) {
	op := &Made{segment: segment{from: from, to: from}}
	type doc struct {
		document
		texts []string
	}
	var docs []doc
	for !whole && (to > 0 || op.weight < x.Large) {
		if err := x.Stop(); err != nil {
			return nil, false, err
		}
		page, err := x.After(root, op.to)
		if err != nil {
			return nil, false, err
		}
		whole = len(page) == 0
		for i := range page {
			e := &page[i]
			if to > 0 && e.Seq > to {
				whole = true
				break
			}
			op.to = e.Seq
			op.weight += objectWeight + len(e.JSON)/8 // the work of Search, if it has to read them
			_, list, at := passages(e)
			if len(list) == 0 {
				continue
			}
			d := doc{document: document{at.UnixMilli(), e.Seq}}
			for _, p := range list {
				d.texts = append(d.texts, p.text)
				op.weight += len(p.text)
			}
			docs = append(docs, d)
		}
	}
	if to > 0 {
		op.to = to
	}
	slices.SortFunc(docs, func(a, b doc) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	b := searchtext.NewBuilder()
	places := slices.Repeat([]document{{}}, len(docs))
	for i := range docs {
		b.Add(docs[i].texts...)
		places[i] = docs[i].document
	}
	if op.docs = len(docs); op.docs == 0 {
		return op, whole, nil
	}
	op.first, op.last = docs[0].at, docs[op.docs-1].at
	for chunk := range slices.Chunk(places, docsInChunk) {
		op.add(chunkKey(op.to, len(op.keys)), encodeDocs(chunk))
	}
	for word, block := range b.Blocks() {
		op.add(append(segmentKey(prefixBlock, op.to), word...), bytes.Clone(block))
	}
	return op, whole, nil
}
