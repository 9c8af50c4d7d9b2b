package decisionlog

import (
	"slices"

	"cursord/diffs"
)

// A Step is a change of an unsaved text by a decision, or by the undo or redo of one.
type Step struct {
	Group         uint64
	Decision      diffs.Decision // the group's part in the file
	Conflicts     []uint64       // as in File
	Undo          bool           // the step takes the decision back
	Again         bool           // the decision is older than the step, which is an undo or a redo
	Before, After string         // the Sums of the texts; "" if the text stayed
}

// Steps are the steps that have led to a text, and those that lead on from it: the editor's own undo goes back before steps, and its
// redo makes them again. The zero Steps has none.
type Steps struct {
	all  []Step
	made int // so many of them have led to the text
}

// Made returns the steps that have led to the text, the oldest first.
func (s *Steps) Made() []Step { return s.all[:s.made:s.made] }

// All returns these steps, and those that lead on.
func (s *Steps) All() []Step { return s.all }

// Add adds steps that have led to the present text. It forgets those that led on.
func (s *Steps) Add(more ...Step) {
	s.all = append(s.Made(), more...)
	s.made = len(s.all)
}

// Drop forgets a step that has led to the text, counted from 0, and those that led on.
func (s *Steps) Drop(i int) {
	s.all = slices.Delete(slices.Clone(s.Made()), i, i+1)
	s.made--
}

// Find goes to the text with a sum. It returns the steps that this takes back, the latest first, and those that it makes again; and false
// if no step has led to that text, or from it.
func (s *Steps) Find(sum string) (back, again []Step, found bool) {
	here := true
	for i := s.made; i > 0; i-- {
		t := s.all[i-1]
		if here && t.After == sum {
			return nil, nil, true
		}
		here = here && t.After == ""
		back = append(back, t)
		if t.Before == sum {
			s.made = i - 1
			return back, nil, true
		}
	}
	for i := s.made; i < len(s.all); i++ {
		again = append(again, s.all[i])
		if s.all[i].After == sum {
			s.made = i + 1
			return nil, again, true
		}
	}
	return nil, nil, false
}

// Later reports whether one of some steps is about the same decision as t.
func Later(steps []Step, t Step) bool {
	return slices.ContainsFunc(steps, func(later Step) bool { return later.Group == t.Group })
}

// Stem returns a copy of a file's review in which steps are made.
func Stem(review *diffs.Review, steps []Step) *diffs.Review {
	stem, failed, made := review.Copy(), map[uint64]bool{}, map[uint64]diffs.Decision{} // by decision
	for _, s := range steps {
		// An error means that the review no longer has the lines: they count as ordinary text. A decision that failed is not undone.
		done, again := made[s.Group]
		switch {
		case !s.Undo:
			done, err := stem.Redo(s.Decision)
			failed[s.Group], made[s.Group] = err != nil, done
		case again && !failed[s.Group]: // it may have taken more along than where it was made
			_ = stem.Undo(done)
		case !again:
			_ = stem.Undo(s.Decision)
		}
	}
	return stem
}
