package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// Succeed takes in that a person has moved the file to where another one was that edits have deleted, pending. What is pending of the file
// stays pending, and so does the removal of the other one's lines, before its own. A content without lines counts as replaced by the person.
func (r *Review) Succeed(deleted *Review) {
	if r.whole != nil || deleted.whole != nil || deleted.is {
		return
	}
	r.forget()
	var gone []weave.Atom
	var edits []int32
	for _, a := range deleted.weave.Atoms {
		if src := deleted.sources.of([]int32{a.Del}); len(src) > 0 {
			n := r.sources.edit(src[0])
			gone, edits = append(gone, weave.Atom{Text: a.Text, ID: r.weave.ID(), Del: n}), append(edits, n)
		}
	}
	if len(gone) == 0 {
		return
	}
	r.formers = nil
	r.weave.Atoms = append(gone, r.weave.Atoms...)
	r.weave.Repair()
	r.settleExistence()
	r.past = r.past.Touch(slices.Compact(edits)...)
	r.rev++
}

// Deleted reports whether edits have deleted the file, pending.
func (r *Review) Deleted() bool { return !r.is && r.Pending() }
