package unsaved

import "cursord/daemon/internal/decisionlog"

// Sum returns the sum of the text that a decision is about to change: that of b or, if b is nil, of the file in the work tree. It is "" if
// the decision writes no text.
func (f *File) Sum(b *Buffer, accept bool) string {
	switch {
	case !f.WritesReal(accept):
	case b != nil:
		return decisionlog.Sum(b.Text())
	case f.Real().Exists:
		return decisionlog.Sum(string(f.Real().Data))
	}
	return ""
}

// Changed returns the sums of the texts before and after a decision: sum is the one before, and coming that of the text that b is to have.
// They are "" if the decision left the text as it was, for example a decision about a mode. Only a changed text can come back by an
// editor's undo and redo.
func (d *Decided) Changed(f *File, b *Buffer, sum, coming string) (was, then string) {
	switch {
	case len(d.Taken) > 0 && d.Accept:
		return d.Was, d.Then
	case b == nil:
		then = decisionlog.Sum(string(f.Real().Data))
	case d.Edits == nil:
		return "", ""
	default:
		then = coming
	}
	if sum == then {
		return "", ""
	}
	return sum, then
}
