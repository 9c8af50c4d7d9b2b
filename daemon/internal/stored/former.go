package stored

import (
	"errors"

	"cursord/diffs"
	"cursord/sessions"
)

// A Former is a review of a file in a copy, from before a change of the work tree.
type Former struct {
	Stash
	After string `json:"after"`
}

// NewFormers returns the stored form of a review's formers, and the contents of their blobs.
func NewFormers(review *diffs.Review, now int64) (list []Former, blobs [][]byte) {
	for _, f := range review.Formers() {
		s, more := newStash(f.Review, 0, now)
		list, blobs = append(list, Former{*s, f.After}), append(blobs, more...)
	}
	return list, blobs
}

// LoadFormers gives a review its formers. An error means that it goes on without some.
func LoadFormers(list []Former, review *diffs.Review, store *sessions.Store) (err error) {
	var formers []diffs.Former
	for i := range list {
		former, no := list[i].Load(store)
		if no != nil {
			err = errors.Join(err, no)
			continue
		}
		formers = append(formers, diffs.Former{Review: former, After: list[i].After})
	}
	review.RestoreFormers(formers)
	return err
}
