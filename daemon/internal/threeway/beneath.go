package threeway

import (
	"slices"

	"cursord/diffs"
)

// A Beneath follows what an unsaved text and the disk beneath it have in common.
type Beneath struct {
	Merge  // as seen last
	origin string
	base   string
	sent   *Merge // whose Text is on its way
}

// Base returns what a text that is unsaved and its disk have in common: what is known of that or, if nothing is, the text from
// before the agent's changes, unless the text is nearer to what the disk has: then the editor has read it.
func Base(known *string, before, disk, text string) string {
	switch {
	case known != nil && distance(disk, text) >= distance(*known, text):
		return *known
	case known == nil && distance(disk, text) > distance(before, text):
		return before
	}
	return disk
}

// New returns one that begins with what both had in common when the text became unsaved.
func New(base string) *Beneath { return &Beneath{origin: base, base: base} }

// See takes in what both hold now; of the disk, together is as with Of.
func (b *Beneath) See(disk, text string, together []Span) {
	if m := b.sent; m != nil {
		// Whoever was sent the merge may have typed beside it, or not have made it.
		if distance(m.Text, text) < distance(b.base, text) || m.Text == text {
			b.base = m.Then
		}
		b.sent = nil
	}
	b.Merge = Of(b.base, disk, text, together)
	b.base = b.Known
}

// Send returns the merged text, which the next text that is seen is expected to be.
func (b *Beneath) Send() string {
	m := b.Merge
	b.sent = &m
	return m.Text
}

// Settle says that a conflict is decided: what the disk has there is known.
func (b *Beneath) Settle(c Place, disk string) {
	b.base = Replace(b.base, c.Base, Lines(disk, c.Disk)...)
}

// News returns where the disk is another than when the text became unsaved.
func (b *Beneath) News(disk string) []Span {
	var all []Span
	for _, c := range changes(b.origin, disk, true) {
		all = append(all, c.here)
	}
	return all
}

// Nearer reports whether a text differs from one in fewer lines than from another.
func Nearer(text, one, other string) bool { return distance(text, one) < distance(text, other) }

// distance counts the lines that differ.
func distance(a, b string) (n int) {
	for _, e := range diffs.LineEdits(a, b) {
		n += e.To - e.From + len(lines(e.Text))
	}
	return n
}

// Touches reports whether two spans have a line in common; one without lines touches what it is in or at the edge of.
func (s Span) Touches(o Span) bool {
	if s.From == s.To || o.From == o.To {
		return s.From <= o.To && o.From <= s.To
	}
	return s.From < o.To && o.From < s.To
}

// Moved returns where a span is once edits are made of its text, and whether any is of its lines: what that makes of them is then part of
// it. Lines at its edges are not, but for those in the place of a span that has none.
func Moved(s Span, edits []diffs.LineEdit) (now Span, touched bool) {
	now = s
	shift := 0
	for _, e := range edits {
		grown := len(lines(e.Text)) - (e.To - e.From)
		inside := e.From < s.To && s.From < e.To
		if s.From == s.To && e.From == e.To {
			inside = e.From == s.From
		}
		switch {
		case inside:
			if !touched {
				now.From = min(s.From, e.From) + shift
			}
			now.To, touched = max(s.To, e.To)+shift+grown, true
		case e.To <= s.From:
			now.From, now.To = now.From+grown, now.To+grown
		}
		shift += grown
	}
	return now, touched
}

// Same reports whether two texts have the same lines in two spans.
func Same(a string, at Span, b string, bt Span) bool {
	return slices.Equal(Lines(a, at), Lines(b, bt))
}
