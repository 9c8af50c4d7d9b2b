package sessions

import (
	"context"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"cursord/sessions/internal/search"
	"cursord/sessions/internal/searchtext"
)

// ErrNoWord is returned by Search for a query without a word.
var ErrNoWord = errors.New("the query has no word")

// A Match is a place where a search has found something.
type Match struct {
	Workspace string      `json:"workspace"`
	SessionID string      `json:"sessionId"`
	Title     string      `json:"title"`
	TurnID    string      `json:"turnId"`           // of a title's match: the session's latest; "": it has none
	ItemID    string      `json:"itemId,omitempty"` // "": it is in a title or a prompt
	In        string      `json:"in"`               // title, prompt, text, command or path
	Snippet   string      `json:"snippet"`          // one line
	Ranges    []ByteRange `json:"ranges"`           // of Snippet, in order: what was searched for
	At        Time        `json:"at"`
}

// A ByteRange is a part of a text, in bytes of UTF-8.
type ByteRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Search returns a page of the places that match a query, the newest first, and the cursor of the next page ("" after the
// last). Package searchtext says what a query is. A place is a session's title, a turn's prompt, or one text, command or path of an ended item;
// it must match the whole query. A turn that came with a fork is left out while the session that it came from has it. root "" stands for all
// workspaces. limit is 100 for 0 and at most 1000. Search returns ErrNoWord, ErrBadCursor or ctx's error.
func (s *Store) Search(ctx context.Context, root, query, cursor string, limit int) ([]Match, string, error) {
	q := searchtext.Parse(query)
	if q.Empty() {
		return nil, "", ErrNoWord
	}
	roots := []string{root}
	if root == "" {
		all, err := s.Workspaces()
		if err != nil {
			return nil, "", err
		}
		roots = roots[:0]
		for _, w := range all {
			roots = append(roots, w.Root)
		}
	}
	from := &forks{s: s, sessions: map[string]*Session{}, turns: map[string]map[string]bool{}}
	for {
		page, next, err := search.Page(ctx, s.searchStore(), roots, q, cursor, pageSize(limit))
		if errors.Is(err, search.ErrBadCursor) {
			err = ErrBadCursor
		}
		if found := s.matches(page, from); len(found) > 0 || next == "" || err != nil {
			return found, next, err
		}
		cursor = next
	}
}

// matches returns the matches of a page, without those in turns that a fork has copied.
func (s *Store) matches(page []search.Match, from *forks) []Match {
	found := []Match{}
	for _, p := range page {
		if p.Kind != search.Session && from.copied(p.Session, p.Turn) {
			continue
		}
		m := Match{
			Workspace: p.Root, SessionID: p.Session, TurnID: p.Turn, ItemID: p.Item, In: p.In, Snippet: p.Snippet, Ranges: []ByteRange{}, At: Time{p.At},
		}
		for _, r := range p.Ranges {
			m.Ranges = append(m.Ranges, ByteRange(r))
		}
		if p.Kind == search.Session {
			if t, err := s.LastTurn(m.SessionID); err == nil { // else it has none
				m.TurnID = t.ID
			}
		}
		if of := from.session(m.SessionID); of != nil {
			m.Title = of.Title
		}
		found = append(found, m)
	}
	return found
}

var bucketIndex = []byte("index") // of a workspace; package search says what is in it

// searchStore returns the store in the form that package search reads.
func (s *Store) searchStore() search.Store {
	object := func(e Entry) search.Object {
		kinds := map[Kind]search.Kind{KindSession: search.Session, KindTurn: search.Turn, KindItem: search.Item}
		o := search.Object{Kind: kinds[e.Kind], Seq: e.Seq, JSON: e.JSON}
		if e.Removed {
			o.Kind = search.Other
		}
		return o
	}
	return search.Store{
		Read: func(root string, read func(*bolt.Bucket) error) error {
			return s.view(func(tx *bolt.Tx) error { return read(inSpace(root, bucketIndex)(tx)) })
		},
		After: func(root string, seq uint64) ([]search.Object, error) {
			page, err := s.Changes(root, seq, 0)
			list := make([]search.Object, len(page))
			for i, e := range page {
				list[i] = object(e)
			}
			return list, err
		},
		At: func(root string, seq uint64) (o search.Object, ok bool, err error) {
			err = s.view(func(tx *bolt.Tx) error {
				r := resolver{s: s, tx: tx, root: root, space: spaceBucket(tx, root)}
				if r.space == nil {
					return nil
				}
				if at, is := decodeChanged(r.space.Bucket(bucketChanges).Get(be64(seq))); is {
					var e Entry
					e, ok = r.entry(at, seq)
					o = object(e)
				}
				return nil
			})
			return o, ok, err
		},
		Put: func(root string, made search.Made) error {
			done := make(chan error, 1)
			s.Submit(root, []Op{putSegment{made}}, func(err error) { done <- err })
			return <-done
		},
	}
}

// putSegment stores a segment of a workspace's index.
type putSegment struct{ search.Made }

func (putSegment) isOp() {}

func (w space) putSegment(op putSegment) error {
	b, err := w.b.CreateBucketIfNotExists(bucketIndex) // older databases lack it
	if err != nil {
		return err
	}
	b.FillPercent = appendFill
	return op.Store(b)
}

// startIndexer starts the indexer, which runs until the store is closed. It indexes what is committed from now on and, after a while, what an
// earlier process has stored.
func (s *Store) startIndexer() {
	x := search.NewIndexer(s.searchStore())
	x.Small, x.Large = s.set.small, s.set.large
	x.Busy = func() bool { return s.Backlog() > 0 }
	x.Stop = func() error {
		select {
		case <-s.quit:
			return ErrClosed
		default:
		}
		if s.suspect.Load() { // writes that are not needed could do further damage
			return ErrDamaged
		}
		return nil
	}
	s.indexer = x
	go func() {
		defer close(s.indexed)
		x.Run(s.quit)
	}()
	s.indexOld = time.AfterFunc(s.set.indexOld, func() {
		all, _ := s.Workspaces() // on an error only new objects are indexed, and searches read the others
		for _, w := range all {
			x.Stored(w.Root, x.Small)
		}
	})
}

// searchedBytes returns about how many bytes of operations Search looks in. A removal counts as much as a segment, because it may
// make one stale.
func searchedBytes(ops []Op) (n int) {
	for _, op := range ops {
		switch op := op.(type) {
		case Put:
			if kind, _ := op.Object.Key(); kind != KindDiff {
				n += len(op.JSON)
			}
		case PutChanges: // its item is read again, if that is short
			n += 1 << 10
		case RemoveSession:
			n += search.Small
		}
	}
	return n
}
