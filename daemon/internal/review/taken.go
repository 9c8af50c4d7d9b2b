package review

import (
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file opens conflicts again: when an accept is taken back, and when an unsaved text comes back. An accept is made in the file's
// review, and the edits that follow from it in a buffer.

// retraceAccepts is retrace for a way with accepts of conflicts. It returns false if there are none, or if the review has moved on.
func (r *Reviewer) retraceAccepts(f *file, b *buffer, steps []decisionlog.Step) bool {
	trial, found, rest := f.review.Copy(), false, []decisionlog.Step(nil)
	for _, t := range steps {
		err := error(nil)
		switch {
		case !t.Decision.Accept || len(t.Conflicts) == 0:
			rest = append(rest, t)
			continue
		case t.Undo:
			err = trial.Undo(t.Decision)
		default:
			_, err = trial.Redo(t.Decision)
		}
		if found = true; err != nil {
			return false
		}
	}
	if !found {
		return false
	}
	b.findBase(f, b.text(f))
	for _, t := range steps {
		if !t.Undo {
			f.reopen(t.Conflicts, false)
		}
	}
	f.review = trial
	for _, t := range steps {
		if t.Undo {
			f.reopen(t.Conflicts, true)
		}
		r.setUndone(f, t.Group, t.Undo)
	}
	b.steps.Add(rest...)
	return true
}

// undo undoes a decision in a file that no buffer decides about.
func (f *file) undo(review *diffs.Review, part *decisionlog.File) (diffs.Decision, error) {
	return part.TakeBack(review, func(yield func(string) bool) {
		for _, b := range f.buffers {
			if !yield(b.text(f)) {
				return
			}
		}
	})
}

// findBase finds what the buffer's text and the disk had in common when the text became unsaved, if it is not known yet.
func (b *buffer) findBase(f *file, text string) {
	if b.beneath != nil {
		return
	}
	if f.apart != nil && (b.doc.Known == nil || f.apart.sum == decisionlog.Sum(text)) {
		b.beneath = threeway.New(f.apart.base)
		return
	}
	disk := f.review.Current()
	var known *string
	if k := b.doc.Known; k != nil {
		like := editorfile.LikeFile(string(k.Data), disk.Data)
		known = &like
	}
	b.beneath = threeway.New(threeway.Base(known, string(f.review.Baseline().Data), string(disk.Data), text))
}

// An apart is what an unsaved text with conflicts and the disk had in common. It is kept until a save, because the text may come back:
// to the next daemon, and by the editor's undo after it has read the file.
type apart struct{ sum, base string } // the sum of the text; "" if another daemon knew it

// remember keeps what the buffer's text and the disk have in common, if they have conflicts.
func (b *buffer) remember(f *file) {
	if len(b.conflicts) == 0 {
		return
	}
	base := b.beneath.Common()
	f.moved = f.moved || f.apart == nil || f.apart.base != base
	f.apart = &apart{decisionlog.Sum(b.text(f)), base}
}
