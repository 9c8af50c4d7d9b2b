package diffs

import (
	"iter"
	"math"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// The sources of a review say who made its edits. Edits have numbers; only those that something may still ask about are
// kept.
type sources struct {
	by      []Source
	numbers []int32 // of the edits in by, ascending
}

// last is the highest number.
func (s *sources) last() int32 {
	if len(s.numbers) == 0 {
		return 0
	}
	return s.numbers[len(s.numbers)-1]
}

// edit returns the number of an edit that src made.
func (s *sources) edit(src Source) int32 {
	if i := slices.Index(s.by, src); i >= 0 {
		return s.numbers[i]
	}
	s.by, s.numbers = append(s.by, src), append(s.numbers, s.last()+1)
	return s.last()
}

// of returns the sources of some edits.
func (s *sources) of(edits []int32) []Source {
	by := make([]Source, 0, len(edits))
	for _, n := range edits {
		if i, ok := slices.BinarySearch(s.numbers, n); ok {
			by = append(by, s.by[i])
		}
	}
	return by
}

// commit returns the commit that an edit has only brought; "" if it has written its lines itself.
func (s *sources) commit(edit int32) string {
	i, ok := slices.BinarySearch(s.numbers, edit)
	if !ok {
		return ""
	}
	return s.by[i].Commit
}

// stored returns the numbers in their stored form: nil if none is missing.
func (s *sources) stored() []int32 {
	if int(s.last()) == len(s.numbers) {
		return nil
	}
	return s.numbers
}

// storedSources is the inverse of stored. It returns false for what stored cannot have made.
func storedSources(by []Source, numbers []int32) (s sources, ok bool) {
	if numbers == nil {
		for i := range by {
			numbers = append(numbers, int32(i)+1)
		}
	}
	for i, n := range numbers {
		if n <= 0 || i > 0 && n <= numbers[i-1] {
			return s, false
		}
	}
	return sources{by, numbers}, len(by) == len(numbers)
}

// Sources returns the number of edits whose source the review knows.
func (r *Review) Sources() int { return len(r.sources.by) }

// ForgetSources forgets the sources of edits of which nothing is pending, unless one of the decisions can bring it back. The
// caller gives all decisions of the review that can be undone or redone; those of a copy count too.
func (r *Review) ForgetSources(decisions iter.Seq[*Decision]) {
	asked := make(map[int32]bool)
	ops := func(ops ...fileOp) {
		for _, op := range ops {
			for _, n := range op.Edits {
				asked[n] = true
			}
		}
	}
	for _, f := range append([]Former{{Review: r}}, r.formers...) {
		ops(f.Review.op, f.Review.unknown, f.Review.chmod, f.Review.renamed)
		for i := range f.Review.weave.Atoms {
			asked[f.Review.weave.Atoms[i].Ins], asked[f.Review.weave.Atoms[i].Del] = true, true
		}
	}
	for n := range r.past.Edits() {
		asked[n] = true
	}
	for d := range decisions {
		if past, err := history.Unmarshal(d.Past, math.MaxInt); err == nil {
			for n := range past.Edits() {
				asked[n] = true
			}
		}
		ops(d.Before.Op, d.Before.Unknown, d.Before.Mode, d.Before.Move)
		for _, run := range d.Runs {
			for i := range run.Atoms {
				asked[run.Atoms[i].Ins], asked[run.Atoms[i].Del], asked[run.Atoms[i].BackIns] = true, true, true
			}
		}
	}
	var kept sources
	for i, n := range r.sources.numbers {
		if asked[n] {
			kept.by, kept.numbers = append(kept.by, r.sources.by[i]), append(kept.numbers, n)
		}
	}
	r.sources = kept
}

// Wrote reports, for each line of the present text, whether it is pending and was inserted by an edit whose source by
// accepts. It is nil for a content without lines.
func (r *Review) Wrote(by func(Source) bool) (wrote []bool) {
	if r.whole != nil || !r.is {
		return nil
	}
	ours := make(map[int32]bool, len(r.sources.numbers))
	for i, n := range r.sources.numbers {
		ours[n] = by(r.sources.by[i])
	}
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.On(weave.Current) {
			wrote = append(wrote, ours[a.Ins])
		}
	}
	return wrote
}
