// Package pagefile reads the tree of a bbolt file by plain reads, and checks every number in it before using it. bbolt trusts its
// pages: on a bad page it faults, or panics in a goroutine of its own, even while it opens a file that was not closed
// cleanly. No caller can recover from that, so the store walks the file first.
//
// The format has been the same since 2013 (version 2): pages of a header (id 8 bytes, flags 2, count 2, overflow 4) and
// elements, in the machine's byte order.
package pagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// A File is a bbolt file.
type File struct {
	r        io.ReaderAt
	size     int64
	pageSize int64
	root     uint64 // page of the root bucket
	freelist uint64 // page of the list of free pages, or noFreelist
	high     uint64 // the first page id never used
	txid     uint64
}

// ElemSize is the size of an element of a branch or a leaf, beside its key and value.
const ElemSize = 16

const (
	pageHeader  = 16
	metaSize    = 64 // after the page's header
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = ^uint64(0)

	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageFreelist = 0x10
	leafBucket   = 0x01 // the element is a bucket

	maxDepth = 64 // nesting of pages and buckets; a real file has about 10
)

// A badPage is damage, in contrast to an error of reading the file.
type badPage struct {
	id   uint64
	what string
}

func (e badPage) Error() string { return fmt.Sprintf("page %d: %s", e.id, e.what) }

// ErrNoMeta is the error of a file without a valid header.
var ErrNoMeta = errors.New("no valid header")

// Open finds the newer of the two valid headers.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var best *File
	for at := int64(0); at <= 16<<20; at = max(1024, 2*at) { // the second header lies one page in; pages are 1 KiB to 16 MiB
		var b [pageHeader + metaSize]byte
		if n, err := r.ReadAt(b[:], at); n < len(b) {
			if errors.Is(err, io.EOF) {
				break
			}
			return nil, err
		}
		if f, ok := parseMeta(b[pageHeader:]); ok && (at == 0 || at == f.pageSize) && (best == nil || f.txid > best.txid) {
			f.r, f.size = r, size
			best = &f
		}
	}
	if best == nil {
		return nil, ErrNoMeta
	}
	return best, nil
}

func parseMeta(b []byte) (File, bool) {
	e := binary.NativeEndian
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	f := File{
		pageSize: int64(e.Uint32(b[8:])),
		root:     e.Uint64(b[16:]),
		freelist: e.Uint64(b[32:]),
		high:     e.Uint64(b[40:]),
		txid:     e.Uint64(b[48:]),
	}
	ok := e.Uint32(b) == metaMagic && e.Uint32(b[4:]) == metaVersion && e.Uint64(b[56:]) == sum.Sum64() &&
		f.pageSize >= 1024 && f.pageSize <= 16<<20
	return f, ok
}

// ClosedCleanly reports whether the store closed the file: its last commit has the list of free pages.
func (f *File) ClosedCleanly() bool { return f.freelist != noFreelist }

// Used returns the size up to the last used page.
func (f *File) Used() int64 { return int64(f.high) * f.pageSize }

// Walk calls visit for each pair of each bucket in key order. path holds the names of the buckets that lead to it; visit's
// arguments are valid only during the call. walk skips a bad page with everything below it. It returns the first damage, and
// in err what kept it from reading at all.
func (f *File) Walk(visit func(path []string, k, v []byte)) (damage, err error) {
	w := f.walker(visit)
	w.free()
	w.page(f.root, bounds{}, 0)
	return w.damage, w.err
}

// WalkFree checks only the list of free pages and the file's size: what bbolt needs to open a file that was closed cleanly.
func (f *File) WalkFree() (damage, err error) {
	w := f.walker(nil)
	w.free()
	return w.damage, w.err
}

func (f *File) walker(visit func(path []string, k, v []byte)) *walker {
	w := &walker{f: f, visit: visit, pages: min(f.high, uint64(f.size/f.pageSize))}
	w.used = make([]uint64, w.pages/64+1)
	if uint64(f.size)/uint64(f.pageSize) < f.high {
		w.bad(f.high-1, "the file ends before it")
	}
	return w
}

type walker struct {
	f      *File
	visit  func(path []string, k, v []byte)
	pages  uint64   // page ids below are in the file
	used   []uint64 // a bit for each page that was met
	path   []string
	bufs   [][]byte // one for each depth
	damage error
	err    error
}

// bounds are what a parent says of its child's keys: at least low, below high; nil is no bound.
type bounds struct{ low, high []byte }

func (w *walker) bad(id uint64, format string, args ...any) {
	if w.damage == nil {
		w.damage = badPage{id, fmt.Sprintf(format, args...)}
	}
}

// use marks pages as met. It reports whether they are in the file and were not met before.
func (w *walker) use(id, n uint64) bool {
	if id < 2 || id >= w.pages || n > w.pages-id {
		w.bad(id, "not in the file")
		return false
	}
	for i := id; i < id+n; i++ {
		if w.used[i/64]&(1<<(i%64)) != 0 {
			w.bad(i, "used twice")
			return false
		}
		w.used[i/64] |= 1 << (i % 64)
	}
	return true
}

// read returns a page with its overflow. The next page of the same depth reuses the memory.
func (w *walker) read(id uint64, depth int) []byte {
	if w.err != nil || id < 2 || id >= w.pages {
		w.bad(id, "not in the file")
		return nil
	}
	if depth >= maxDepth {
		w.bad(id, "too deep")
		return nil
	}
	for len(w.bufs) <= depth {
		w.bufs = append(w.bufs, nil)
	}
	b := w.bufs[depth]
	if int64(cap(b)) < w.f.pageSize {
		b = make([]byte, w.f.pageSize)
	}
	b = b[:w.f.pageSize]
	at := int64(id) * w.f.pageSize
	if !w.readAt(b, at) {
		return nil
	}
	e := binary.NativeEndian
	n := uint64(e.Uint32(b[12:])) + 1
	if e.Uint64(b) != id {
		w.bad(id, "holds page %d", e.Uint64(b))
		return nil
	}
	if !w.use(id, n) {
		return nil
	}
	if n > 1 {
		b = append(b, make([]byte, int64(n-1)*w.f.pageSize)...)
		if !w.readAt(b[w.f.pageSize:], at+w.f.pageSize) {
			return nil
		}
	}
	w.bufs[depth] = b
	return b
}

func (w *walker) readAt(b []byte, at int64) bool {
	if _, err := w.f.r.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			w.bad(uint64(at/w.f.pageSize), "the file ends in it")
		} else {
			w.err = err
		}
		return false
	}
	return true
}

// free marks the free pages, if the file lists them, so that a page that is both free and used is found.
func (w *walker) free() {
	if w.f.freelist == noFreelist {
		return
	}
	b := w.read(w.f.freelist, 0)
	if b == nil {
		return
	}
	e := binary.NativeEndian
	if e.Uint16(b[8:]) != pageFreelist {
		w.bad(w.f.freelist, "not a list of free pages")
		return
	}
	count, ids := uint64(e.Uint16(b[10:])), b[pageHeader:]
	if count == 0xFFFF { // the field is too small: the first number is the count
		count, ids = e.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		w.bad(w.f.freelist, "lists %d pages", count)
		return
	}
	last := uint64(0)
	for i := range count {
		id := e.Uint64(ids[8*i:])
		if id <= last {
			w.bad(w.f.freelist, "is not sorted")
			return
		}
		last = id
		if !w.use(id, 1) {
			return
		}
	}
}

// page walks a page of a bucket's tree and all below it.
func (w *walker) page(id uint64, in bounds, depth int) {
	b := w.read(id, depth)
	if b == nil {
		return
	}
	switch binary.NativeEndian.Uint16(b[8:]) {
	case pageBranch:
		w.branch(id, b, in, depth)
	case pageLeaf:
		w.leaf(id, b, in, depth)
	default:
		w.bad(id, "neither branch nor leaf")
	}
}

// elements checks that a page's elements lie in the page, ascend and keep within bounds. It then calls each for every
// element, with the key's bytes and the bytes after it.
func (w *walker) elements(id uint64, b []byte, pos, ksize int, in bounds, each func(i int, elem, k, rest []byte)) {
	e := binary.NativeEndian
	count := int(e.Uint16(b[10:]))
	if pageHeader+count*ElemSize > len(b) {
		w.bad(id, "has %d elements", count)
		return
	}
	last := in.low
	for i := range count {
		elem := b[pageHeader+i*ElemSize:]
		from, size := uint64(e.Uint32(elem[pos:])), uint64(e.Uint32(elem[ksize:]))
		if from < ElemSize || from > uint64(len(elem)) || size > uint64(len(elem))-from {
			w.bad(id, "element %d lies outside", i)
			continue
		}
		k := elem[from : from+size]
		if c := bytes.Compare(last, k); len(k) == 0 || last != nil && (c > 0 || c == 0 && i > 0) || in.high != nil && bytes.Compare(k, in.high) >= 0 {
			w.bad(id, "element %d is out of order", i)
			continue
		}
		last = k
		each(i, elem, k, elem[from+size:])
	}
}

func (w *walker) branch(id uint64, b []byte, in bounds, depth int) {
	type child struct {
		page uint64
		key  []byte
	}
	var children []child
	w.elements(id, b, 0, 4, in, func(_ int, elem, k, _ []byte) {
		children = append(children, child{binary.NativeEndian.Uint64(elem[8:]), k})
	})
	for i, c := range children {
		below := bounds{low: c.key, high: in.high}
		if i+1 < len(children) {
			below.high = children[i+1].key
		}
		w.page(c.page, below, depth+1)
	}
}

func (w *walker) leaf(id uint64, b []byte, in bounds, depth int) {
	e := binary.NativeEndian
	w.elements(id, b, 4, 8, in, func(i int, elem, k, rest []byte) {
		size := uint64(e.Uint32(elem[12:]))
		switch {
		case size > uint64(len(rest)):
			w.bad(id, "the value of element %d lies outside", i)
		case e.Uint32(elem)&leafBucket == 0:
			if w.visit != nil {
				w.visit(w.path, k, rest[:size])
			}
		case size < 16:
			w.bad(id, "element %d is no bucket", i)
		default:
			w.bucket(id, string(k), rest[:size], depth)
		}
	})
}

// bucket walks the bucket in element k of page id: a root page, or, for small buckets, the page itself.
func (w *walker) bucket(id uint64, k string, v []byte, depth int) {
	e := binary.NativeEndian
	w.path = append(w.path, k)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	if root := e.Uint64(v); root != 0 {
		w.page(root, bounds{}, depth+1)
		return
	}
	inline := v[16:]
	if len(inline) < pageHeader || e.Uint16(inline[8:]) != pageLeaf || depth >= maxDepth {
		w.bad(id, "bucket %q in it is not a page", k)
		return
	}
	w.leaf(id, inline, bounds{}, depth+1)
}
