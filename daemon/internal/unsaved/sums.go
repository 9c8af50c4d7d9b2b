package unsaved

import "cursord/daemon/internal/decisionlog"

// SumBefore returns the sum of the text that a decision is about to change: that of b or, if b is nil, of the file in the work tree. It
// is "" if the decision writes no text.
func (f *File) SumBefore(b *Buffer, accept bool) string {
	switch {
	case !f.WritesReal(accept):
	case b != nil:
		return decisionlog.Sum(b.Text())
	case f.Real().Exists:
		return decisionlog.Sum(string(f.Real().Data))
	}
	return ""
}

// Sums returns the sums of the texts before and after a decision: before is what SumBefore has returned, and inFlight the sum of the text
// that b is to have. They are "" if the decision left the text as it was, for example a decision about a mode. Only a changed text can come
// back by an editor's undo and redo.
func (o *Outcome) Sums(f *File, b *Buffer, before, inFlight string) (was, then string) {
	switch {
	case len(o.Resolved) > 0 && o.Accept:
		return o.Before, o.After
	case b == nil:
		then = decisionlog.Sum(string(f.Real().Data))
	case o.Edits == nil:
		return "", ""
	default:
		then = inFlight
	}
	if before == then {
		return "", ""
	}
	return before, then
}
