// Package stored has the forms in which the store keeps files under review, and unfinished requests. Contents are kept
// beside them, as blobs. A field's JSON name never changes: a newer build reads the records of an older one.
package stored

import (
	"io/fs"
	"slices"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
	"cursord/sessions"
)

// A File is a file under review.
type File struct {
	N        uint64           `json:"n"`              // names the review in hunk ids
	Mode     uint32           `json:"mode,omitempty"` // permission bits as last seen
	Made     []string         `json:"made,omitempty"` // folders that the agent made for it
	Accepted []string         `json:"accepted,omitempty"`
	Links    atomicfile.Links `json:"links,omitzero"`
	Base     string           `json:"base"` // blobs
	Now      string           `json:"now"`
	Weave    []byte           `json:"weave"`
	Stashed  *Stash           `json:"stashed,omitempty"`
	Formers  []Former         `json:"formers,omitempty"`
	Common   string           `json:"common,omitempty"` // a blob: what an unsaved text with conflicts and the file had in common
	Past     *Past            `json:"past,omitempty"`
	Is       filestat.Stat    `json:"is,omitzero"`       // of the file when it was stored
	Dropped  bool             `json:"dropped,omitempty"` // a history was dropped, because it was too large with the others
}

// A Past is the history of a file's review: which edits its lines come from, and what these replaced.
type Past struct {
	Blob     string   `json:"blob"`
	Size     int      `json:"size"` // bytes
	Sessions []string `json:"sessions"`
	At       int64    `json:"at"` // when its latest edit was made, in ms since 1970
}

// PastOf returns the stored form of a review's history, and its blob; nil if it has none. New edits in it were made now.
func PastOf(review *diffs.Review, now int64) (*Past, []byte) {
	data := review.History(now)
	if data == nil {
		return nil, nil
	}
	sessionIDs, at := review.Edited()
	return &Past{Blob: sessions.BlobID(data), Size: len(data), Sessions: sessionIDs, At: at}, data
}

// Restore gives a review its history. An error means that it goes on without.
func (p *Past) Restore(review *diffs.Review, store *sessions.Store) error {
	if p == nil {
		return nil
	}
	data, err := store.Blob(p.Blob)
	if err != nil {
		return err
	}
	return review.RestoreHistory(data)
}

// A Stash is a file's review from before a person changed the file.
type Stash struct {
	Rev   uint64 `json:"rev"`
	Base  string `json:"base"` // blobs
	Now   string `json:"now"`
	Weave []byte `json:"weave"`
	Past  *Past  `json:"past,omitempty"`
}

// Review returns the stored form of a review, and the contents of its blobs.
func Review(review *diffs.Review) (base, now string, weave []byte, blobs [][]byte) {
	blobs = [][]byte{review.Baseline().Data, review.Current().Data}
	return sessions.BlobID(blobs[0]), sessions.BlobID(blobs[1]), review.Marshal(), blobs
}

// newStash returns the stored form of a review, and the contents of its blobs; rev is the revision of the file's review now.
func newStash(review *diffs.Review, rev uint64, at int64) (*Stash, [][]byte) {
	base, now, weave, blobs := Review(review)
	past, data := PastOf(review, at)
	if past != nil {
		blobs = append(blobs, data)
	}
	return &Stash{Rev: rev, Base: base, Now: now, Weave: weave, Past: past}, blobs
}

// Load returns the review.
func (s *Stash) Load(store *sessions.Store) (*diffs.Review, error) {
	base, err := store.Blob(s.Base)
	if err != nil {
		return nil, err
	}
	now, err := store.Blob(s.Now)
	if err != nil {
		return nil, err
	}
	review, err := diffs.Unmarshal(s.Weave, base, now)
	if err == nil {
		_ = s.Past.Restore(review, store) // without it, nothing says whose accepted lines are
	}
	return review, err
}

// An Intent is the plan of a request that writes files. It is durable before the first write. The transaction that stores
// the result drops it. So a daemon that finds an intent at its start knows which writes may have happened.
type Intent struct {
	Group decisionlog.Group `json:"group"`       // the decision, without its files
	N     uint64            `json:"n,omitempty"` // the number of a group that is undone or redone; 0: a new group
	Files []IntendedFile    `json:"files"`
	Cut   *Cut              `json:"cut,omitempty"` // of a rewind: what leaves the transcript with it
}

// A Cut are the turns that leave a session's transcript.
type Cut struct {
	Session string   `json:"session"`
	Turns   []string `json:"turns"` // the first one first

	Since int64                  `json:"since,omitempty"` // when the first one was asked for, in milliseconds since 1970
	Told  []decisionlog.Rejected `json:"told,omitempty"`  // what the next prompt says again, because its agent has a fresh chat
}

// An IntendedFile is a file of an intent: its change, and its record in the store after the change.
type IntendedFile struct {
	Session    string                  `json:"session,omitempty"` // the session whose copy has the file under review; "": the work tree
	Copy       bool                    `json:"copy,omitempty"`    // the change writes the copy, and not the work tree
	From       string                  `json:"from"`
	To         string                  `json:"to"`
	Temp       string                  `json:"temp"`
	Before     Content                 `json:"before"`
	After      Content                 `json:"after"`
	Mode       uint32                  `json:"mode"`
	Links      atomicfile.Links        `json:"links,omitzero"`
	Dirs       []string                `json:"dirs,omitempty"`
	Decision   diffs.Decision          `json:"decision"`
	Rejections []decisionlog.Rejection `json:"told,omitempty"`
	State      File                    `json:"state"`
}

// A Content is the stored form of a path's content. Its text is a blob.
type Content struct {
	Exists bool   `json:"exists"`
	Blob   string `json:"blob,omitempty"`
	Target []byte `json:"target,omitempty"` // bytes that need not be UTF-8
	Mode   uint32 `json:"mode,omitempty"`
}

// ContentOf returns the stored form of a content. The caller stores the text, if there is one, as a blob.
func ContentOf(c diffs.Content) Content {
	s := Content{Exists: c.Exists, Target: []byte(c.Target), Mode: c.Mode}
	if c.Exists && c.Target == "" {
		s.Blob = sessions.BlobID(c.Data)
	}
	return s
}

// Load returns the content that was given to [ContentOf].
func (s Content) Load(store *sessions.Store) (c diffs.Content, err error) {
	c = diffs.Content{Exists: s.Exists, Target: string(s.Target), Mode: s.Mode}
	if s.Blob != "" {
		c.Data, err = store.Blob(s.Blob)
	}
	return c, err
}

// Change returns the planned change of the file.
func (x *IntendedFile) Change(store *sessions.Store) (c atomicfile.Change, err error) {
	before, err := x.Before.Load(store)
	if err != nil {
		return c, err
	}
	after, err := x.After.Load(store)
	return atomicfile.Change{
		From: x.From, To: x.To, Temp: x.Temp, Before: atomicfile.State{Content: before}, After: after, Mode: fs.FileMode(x.Mode), Dirs: x.Dirs, Links: x.Links,
	}, err
}

// Union returns a list with those of more that are not in it.
func Union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
