package threeway

import (
	"slices"
	"strings"

	"cursord/diffs"
)

// A Beneath follows the common base of an unsaved text and the disk beneath it.
type Beneath struct {
	Merge      // the latest merge
	Sure  bool // the editor has made the edits of a merge, so the base is no guess
	base  string
	sent  *Merge // the merge whose Text is on its way to the editor
}

// Base returns the common base of an unsaved text and its disk. This is the known base or, without one, before: the text
// from before the agent's changes. But if the unsaved text is nearer to the disk's, or as near, the editor has read the disk, and
// Base returns disk.
func Base(known *string, before, disk, text string) string {
	switch {
	case known != nil && distance(disk, text) >= distance(*known, text):
		return *known
	case known == nil && Nearer(text, before, disk):
		return before
	}
	return disk
}

// New returns a Beneath; base is the text that both sides had when the editor's text became unsaved.
func New(base string) *Beneath { return &Beneath{base: base} }

// See merges the two present texts. together is as in Of, for the disk's text.
func (b *Beneath) See(disk, text string, together []Span) {
	if m := b.sent; m != nil {
		// The editor may have typed beside the edits of the merge, or not have made them.
		if distance(m.Text, text) < distance(b.base, text) || m.Text == text {
			b.base, b.Sure = m.Then, true
		}
		b.sent = nil
	}
	b.Merge = Of(b.base, disk, text, together)
	b.base = b.Known
}

// Common returns the base of the latest merge.
func (b *Beneath) Common() string { return b.base }

// Send returns the merged text. The next call of See expects the editor to have it.
func (b *Beneath) Send() string {
	m := b.Merge
	b.sent = &m
	return m.Text
}

// Resolve takes in that a conflict is decided: the disk's lines there become part of the base.
func (b *Beneath) Resolve(c Place, disk string) {
	b.base = Replace(b.base, c.Base, Lines(disk, c.Disk)...)
}

// Reopen takes in that a decided conflict is open again: the base has other lines in the place of these of the disk.
func (b *Beneath) Reopen(s Span, disk string, others ...string) {
	at, _ := Moved(s, diffs.LineEdits(disk, b.base))
	b.base = Replace(b.base, at, others...)
}

// Nearer reports whether text differs from one in fewer lines than from other or, if the number of lines is the same, in
// fewer bytes of these lines.
func Nearer(text, one, other string) bool {
	a, b := distance(text, one), distance(text, other)
	return a < b || a == b && byteDistance(text, one) < byteDistance(text, other)
}

// distance counts the lines in which two texts differ.
func distance(a, b string) (n int) {
	for _, e := range diffs.LineEdits(a, b) {
		n += e.To - e.From + len(lines(e.Text))
	}
	return n
}

// byteDistance counts the bytes of these lines, without the beginning and the end that the lines of both texts have in
// common.
func byteDistance(a, b string) (n int) {
	was := lines(a)
	for _, e := range diffs.LineEdits(a, b) {
		old, now := strings.Join(was[e.From:e.To], ""), e.Text
		for old != "" && now != "" && old[0] == now[0] {
			old, now = old[1:], now[1:]
		}
		for old != "" && now != "" && old[len(old)-1] == now[len(now)-1] {
			old, now = old[:len(old)-1], now[:len(now)-1]
		}
		n += len(old) + len(now)
	}
	return n
}

// Touches reports whether two spans have a line in common. A span without lines touches any span around it or beside it.
func (s Span) Touches(o Span) bool {
	if s.From == s.To || o.From == o.To {
		return s.From <= o.To && o.From <= s.To
	}
	return s.From < o.To && o.From < s.To
}

// Moved returns the place of a span after edits of its text, and whether an edit touches the span's lines; if so, the span
// then includes the edit's lines. An insertion at the edge of a span does not touch it, unless the span has no lines.
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

// Has reports whether a text has a span with exactly these lines.
func Has(text string, at Span, want []string) bool {
	all := lines(text)
	return 0 <= at.From && at.To <= len(all) && slices.Equal(all[at.From:at.To], want)
}
