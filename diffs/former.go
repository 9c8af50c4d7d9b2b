package diffs

import "slices"

// A copy's review follows the baseline's file. What a person does there need not last: another session's accept is undone, or
// git goes to a branch and back. So a review depends on the states, and not on the way between them: as long as nobody but
// that file changes it, each new content is merged into the review from before the first one.

// A Former is a review from before a change of the baseline.
type Former struct {
	Review *Review // must not be changed
	After  string  // names the review that came of the change
}

// formersMost bounds the formers that a review keeps. One is in use; others wait until decisions are undone.
const formersMost = 4

// Formers returns the reviews that r may go back to when the baseline changes. They are stored beside it.
func (r *Review) Formers() []Former { return r.formers }

// RestoreFormers takes back what Formers has returned, after both were stored.
func (r *Review) RestoreFormers(list []Former) { r.formers = list }

// Follows reports whether r may go back to a former, since nothing but the baseline's file has changed it.
func (r *Review) Follows() bool { return r.former() >= 0 }

// former returns the index of the former from which r has come; -1 if there is none.
func (r *Review) former() int {
	if len(r.formers) == 0 {
		return -1
	}
	sum := r.shape().sum()
	return slices.IndexFunc(r.formers, func(f Former) bool { return f.After == sum })
}

// goBack makes r the former from which it has come, because the baseline becomes now. Without one, it notes that what will come
// comes from r. It returns the index of that former; -1 if there is nothing to note.
func (r *Review) goBack(now Content) int {
	i := r.former()
	if i < 0 && !r.Pending() {
		return -1
	}
	if i < 0 {
		was := r.Copy()
		was.formers, was.past = nil, nil
		if len(r.formers) == formersMost {
			r.formers = r.formers[1:]
		}
		r.formers = append(slices.Clip(r.formers), Former{Review: was})
		return len(r.formers) - 1
	}
	if now.Exists && r.is && r.holds(current, now.body()) {
		return i // whatever the former has, the person has all of r
	}
	old := r.formers[i].Review.Copy()
	old.next, old.rev = max(old.next, r.next), r.rev
	old.sources, old.past, old.formers = r.sources, r.past, r.formers
	*r = *old
	r.forget()
	return i
}

// comeFrom notes what r has become since goBack returned i.
func (r *Review) comeFrom(i int) {
	if i < 0 {
		return
	}
	r.formers = slices.Clone(r.formers)
	if f := &r.formers[i]; r.shape().sum() == f.Review.shape().sum() {
		r.formers = slices.Delete(r.formers, i, i+1)
	} else {
		f.After = r.shape().sum()
	}
}
