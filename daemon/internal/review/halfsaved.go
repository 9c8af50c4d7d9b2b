package review

import (
	"slices"
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// This file keeps an agent's hunks while a file has only the first half of a person's save.

// uncut takes back a look at a shorter content of the file, if that was only the beginning of its content now in the work tree. It
// returns false if there was no such look.
func (f *file) uncut(now diffs.Content) bool {
	if f.cut == nil || f.Review.Rev() != f.cutRev || !attribution.Torn(f.Real(), f.RealOf(f.cut), now) {
		return false
	}
	f.cut.Supersede(f.Review)
	f.Review, f.cut = f.cut, nil
	f.Remake()
	return true
}

// takePersons brings the work tree's content at a path into the review of a file in a copy. If the last look found only the
// beginning of this content, that look is taken back first.
func (r *Reviewer) takePersons(f *file, real atomicfile.State, path string) attribution.Saving {
	if f.uncut(real.Content) && real.Exists && f.movedFrom() != "" && f.realPath() != path {
		f.Review.Rename(f.path, f.path, nil) // the path was empty while somebody moved the file
	}
	f.cut = nil
	before, was := f.Review.Copy(), f.Review.Baseline()
	f.Review.ObserveBaseline(real.Content)
	if len(real.Data) >= len(was.Data) {
		return attribution.NotSaving
	}
	f.cut, f.cutRev = before, f.Review.Rev()
	st := filestat.Of(r.absolute(f))
	age := time.Duration(clock.Now() - st.Written())
	if !real.Exists || !st.Exists() || age < 0 || age >= saveTries*r.watch.Limits.Settle || r.setup.Documents.Typed(r.absolute(f), real) != nil {
		return attribution.NotSaving
	}
	return attribution.SavingOf(was, real.Content, f.Review.Pending())
}

// lookLater looks at a file in a copy again after the settling time.
func (r *Reviewer) lookLater(f *file) {
	r.affected[f] = true
	if f.waits {
		return
	}
	f.waits = true
	time.AfterFunc(r.watch.Limits.Settle, func() {
		r.later.Put(func() {
			f.waits = false
			if slices.Contains(r.trees, f.tree) && f.tree.files[f.path] == f {
				r.affected[f] = true
				r.refreshAll([]*file{f})
			}
		})
	})
}
