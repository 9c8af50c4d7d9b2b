package stored

import (
	"slices"

	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
)

// A Stashed is a file's review from before a person's first change since an agent's, or since a decision, and the one from before the change
// that took the last hunk away. They are kept until the file has the text of one again: a person takes a save back, or brings the hunks back
// that "git stash" has put away.
type Stashed struct {
	Rev     uint64 // the revision of the file's review after the person's latest change
	reviews []*diffs.Review
}

// NewStashed returns a Stashed with a review from before a person's change, after which the file's review has revision rev.
func NewStashed(was *diffs.Review, rev uint64) *Stashed {
	return &Stashed{Rev: rev, reviews: []*diffs.Review{was}}
}

// Changed takes note of a later change by a person.
func (s *Stashed) Changed(before, now *diffs.Review) {
	if s.Rev = now.Rev(); before.Pending() && !now.Pending() {
		s.reviews = append(s.reviews[:1], before)
	}
}

// Back returns the review with this text in the place of the file's, and what is stashed still; ok is false if there is none.
func (s *Stashed) Back(text diffs.Content, of *diffs.Review) (was *diffs.Review, left *Stashed, ok bool) {
	i := slices.IndexFunc(s.reviews, func(was *diffs.Review) bool {
		return (atomicfile.State{Content: text}).Same(atomicfile.State{Content: was.Current()})
	})
	if i < 0 {
		return of, s, false
	}
	was = s.reviews[i]
	was.Supersede(of)
	if i > 0 {
		left = &Stashed{Rev: was.Rev(), reviews: s.reviews[:i]}
	}
	return was, left, true
}

// Stored returns the stored form of the latest review, and the contents of its blobs.
func (s *Stashed) Stored(at int64) (*Stash, [][]byte) {
	return newStash(s.reviews[len(s.reviews)-1], s.Rev, at)
}
