package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/searchtext"
)

// ErrBadCursor is returned for a cursor that Page did not return.
var ErrBadCursor = errors.New("not a cursor of a search")

// A Match is an object in which a search has found something.
type Match struct {
	Kind    Kind
	Root    string
	Session string // its id
	Turn    string // "" for a session
	Item    string // "" for a session or turn
	In      string // title, prompt, text, command or path
	Snippet string
	Ranges  []searchtext.Range // of Snippet
	At      time.Time
}

// Page returns the first matches of a query behind a cursor, at most limit, the newest first, and the cursor of the page
// behind them; "" if there are no more. The query must not be empty. Memory is bounded by the page, not by what is found.
func Page(ctx context.Context, of Store, roots []string, query searchtext.Query, cursor string, limit int) (found []Match, next string, err error) {
	q := searching{Store: of, ctx: ctx, query: query, words: query.Words(), limit: limit}
	if cursor != "" {
		if q.below, err = parsePosition(cursor); err != nil {
			return nil, "", err
		}
	}
	for {
		if err := q.begin(roots); err != nil {
			return nil, "", err
		}
		next, err = q.page()
		if !errors.Is(err, errMoved) {
			return q.found, next, err
		}
	}
}

// errMoved says that a segment has been replaced while it was read: the search goes on behind what it has found.
var errMoved = errors.New("a part of the search index has been replaced")

// begin finds the sources of the workspaces.
func (q *searching) begin(roots []string) error {
	q.open, q.rest = nil, nil
	for _, root := range roots {
		if err := q.workspace(root); err != nil {
			return err
		}
	}
	slices.SortStableFunc(q.rest, func(a, b *source) int { return cmp.Compare(b.last, a.last) })
	return nil
}

// A position is a place in the order of the results: by time, the newest first, then by workspace and seq.
type position struct {
	at   int64
	root string
	seq  uint64
}

// before reports whether p comes before o. The zero position comes before all.
func (p position) before(o position) bool {
	return cmp.Or(cmp.Compare(o.at, p.at), strings.Compare(p.root, o.root), cmp.Compare(o.seq, p.seq)) < 0
}

func (p position) cursor() string {
	return fmt.Sprintf("%x.%x.%s", uint64(p.at)^1<<63, p.seq, base64.RawURLEncoding.EncodeToString([]byte(p.root)))
}

func parsePosition(cursor string) (*position, error) {
	var p position
	var at uint64
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 {
		return nil, ErrBadCursor
	}
	n, err := fmt.Sscanf(parts[0]+" "+parts[1], "%x %x", &at, &p.seq)
	if n != 2 || err != nil {
		return nil, ErrBadCursor
	}
	root, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, ErrBadCursor
	}
	p.at, p.root = int64(at^1<<63), string(root)
	return &p, nil
}

// A searching is one page of a search.
type searching struct {
	Store
	ctx   context.Context
	query searchtext.Query
	words []searchtext.Word
	below *position // the last result so far; nil: this is the first page, and has none yet
	found []Match
	limit int
	open  []*source // sources whose next candidate is known
	rest  []*source // others, by their newest documents
}

// A source yields candidates in the order of results: a segment, or what is in no segment.
type source struct {
	root string
	segment
	set    searchtext.Set // what of the segment has all words
	doc    int            // the next candidate; the candidates are below it
	chunk  int            // the chunk in places
	places []document
	ready  []candidate // the next ones, which were looked at
	batch  int         // how many of a segment were looked at together
	next   position    // the place of the first one in ready
	direct bool        // it is what is in no segment
}

// A candidate is an object in which a match may be.
type candidate struct {
	position
	match Match
	is    bool
}

// isIn reports whether a segment is in an index as it was when the search has found it.
func (src *source) isIn(b *bolt.Bucket) bool {
	if b == nil {
		return false
	}
	key := segmentKey(prefixSegment, src.to)
	now, ok := decodeSegment(key, b.Get(key))
	now.stale = src.stale // its documents are the same
	return ok && now == src.segment
}

// wanted reports whether a place is behind those of the pages before.
func (q *searching) wanted(p position) bool { return q.below == nil || q.below.before(p) }

// workspace adds the sources of a workspace.
func (q *searching) workspace(root string) error {
	var list []segment
	var indexed uint64
	err := q.Read(root, func(b *bolt.Bucket) error {
		list, indexed = segmentsOf(b)
		return nil
	})
	if err != nil {
		return err
	}
	for _, seg := range list {
		if q.below == nil || seg.first <= q.below.at {
			q.rest = append(q.rest, &source{root: root, segment: seg, doc: seg.docs, chunk: -1})
		}
	}
	return q.scan(root, indexed)
}

// scan looks through what is in no segment, and keeps the first results of it.
func (q *searching) scan(root string, after uint64) error {
	var best []candidate
	for {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		page, err := q.After(root, after)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			after = page[i].Seq
			m, at, ok := q.look(root, &page[i])
			if p := (position{at, root, after}); ok && q.wanted(p) {
				best = append(best, candidate{p, m, true})
			}
		}
		slices.SortFunc(best, func(a, b candidate) int {
			if a.before(b.position) {
				return -1
			}
			return 1
		})
		best = best[:min(len(best), q.limit+1)]
	}
	if len(best) > 0 {
		q.open = append(q.open, &source{root: root, direct: true, ready: best, next: best[0].position})
	}
	return nil
}

// page collects results, and returns the cursor of the page behind them.
func (q *searching) page() (next string, err error) {
	for {
		if err := q.ctx.Err(); err != nil {
			return "", err
		}
		src, err := q.first()
		if err != nil || src == nil {
			return "", err
		}
		switch of := src.ready[0]; {
		case !of.is || !q.wanted(of.position):
		case len(q.found) == q.limit:
			return q.below.cursor(), nil
		default:
			q.below = &of.position
			q.found = append(q.found, of.match)
		}
		if err := q.advance(src); err != nil {
			return "", err
		}
	}
}

// first returns the source with the first candidate, or nil if there are no more. It opens segments only when their turn
// has come.
func (q *searching) first() (*source, error) {
	for {
		var best *source
		for _, src := range q.open {
			if best == nil || src.next.before(best.next) {
				best = src
			}
		}
		if len(q.rest) == 0 || best != nil && best.next.at > q.rest[0].last {
			return best, nil
		}
		if err := q.ctx.Err(); err != nil {
			return nil, err
		}
		src := q.rest[0]
		q.rest = q.rest[1:]
		if err := q.lookUp(src); err != nil {
			return nil, err
		}
		if err := q.advance(src); err != nil {
			return nil, err
		}
	}
}

// lookUp finds the documents of a segment that have all words.
func (q *searching) lookUp(src *source) error {
	return q.Read(src.root, func(b *bolt.Bucket) error {
		if !src.isIn(b) {
			return errMoved
		}
		c := b.Cursor()
		prefix := segmentKey(prefixBlock, src.to)
		for _, w := range q.words {
			set := searchtext.NewSet(src.docs)
			for k, v := seekBlock(c, src.to, w.Text); bytes.HasPrefix(k, prefix); k, v = c.Next() {
				more, err := w.Read(v, set)
				if err != nil {
					return err
				}
				if !more {
					break
				}
			}
			if src.set == nil {
				src.set = set
			} else if !src.set.And(set) {
				return nil
			}
		}
		return nil
	})
}

// advance makes the next candidate of a source known, and removes the source from open when it has none.
func (q *searching) advance(src *source) error {
	src.ready = src.ready[min(1, len(src.ready)):]
	if len(src.ready) == 0 && !src.direct {
		if err := q.refill(src); err != nil {
			return err
		}
	}
	isOpen := slices.Contains(q.open, src)
	switch {
	case len(src.ready) == 0:
		q.open = slices.DeleteFunc(q.open, func(o *source) bool { return o == src })
		return nil
	case !isOpen:
		q.open = append(q.open, src)
	}
	src.next = src.ready[0].position
	return nil
}

// mostAtOnce is how many candidates are looked at side by side.
const mostAtOnce = 64

// refill looks at the next candidates of a segment, side by side and at more each time: few of them may have the words of a phrase together.
func (q *searching) refill(src *source) error {
	src.batch = min(2*src.batch+1, mostAtOnce)
	src.ready = src.ready[:0]
	for len(src.ready) < src.batch {
		if src.doc = src.set.Below(src.doc); src.doc < 0 {
			break
		}
		d, err := q.document(src)
		if err != nil {
			return err
		}
		if p := (position{d.at, src.root, d.seq}); q.wanted(p) {
			src.ready = append(src.ready, candidate{position: p})
		}
	}
	// A goroutine may still be at the end of its loop when the last answer has been taken and the search moves src.ready on.
	ready := src.ready
	looks := make(chan error, len(ready))
	several := min(runtime.GOMAXPROCS(0), len(ready))
	for from := range several {
		go func() {
			for i := from; i < len(ready); i += several {
				looks <- q.check(src.root, &ready[i])
			}
		}()
	}
	var err error
	for range ready {
		if e := <-looks; e != nil {
			err = e
		}
	}
	return err
}

// check finds out whether a candidate is a match.
func (q *searching) check(root string, of *candidate) error {
	o, ok, err := q.At(root, of.seq)
	if err == nil && ok {
		of.match, _, of.is = q.look(root, &o)
	}
	return err
}

// document returns a source's present document, or errMoved.
func (q *searching) document(src *source) (document, error) {
	if chunk := src.doc / docsInChunk; chunk != src.chunk {
		err := q.Read(src.root, func(b *bolt.Bucket) error {
			if !src.isIn(b) {
				return errMoved
			}
			src.places = decodeDocs(src.places[:0], b.Get(chunkKey(src.to, chunk)))
			return nil
		})
		if err != nil {
			return document{}, err
		}
		src.chunk = chunk
	}
	if i := src.doc % docsInChunk; i < len(src.places) {
		return src.places[i], nil
	}
	return document{}, errMoved
}

// look looks for the query in an object.
func (q *searching) look(root string, e *Object) (m Match, at int64, ok bool) {
	of, list, when := passages(e)
	for _, p := range list {
		snippet, ranges, found := q.query.Find(p.text)
		if !found {
			continue
		}
		m = Match{Kind: e.Kind, Root: root, Session: of.SessionID, In: p.in, Snippet: snippet, Ranges: ranges, At: when}
		switch e.Kind {
		case Session:
			m.Session = of.ID
		case Turn:
			m.Turn = of.ID
		default:
			m.Turn, m.Item = of.TurnID, of.ID
		}
		return m, when.UnixMilli(), true
	}
	return m, 0, false
}
