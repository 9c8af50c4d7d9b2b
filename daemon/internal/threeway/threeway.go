// Package threeway merges what two have made of one text: the disk, and an editor's buffer that is not saved. It is pure,
// and knows lines alone.
package threeway

import (
	"cmp"
	"slices"
	"strings"

	"cursord/diffs"
)

// A Span is a run of lines, counted from 0; To is exclusive.
type Span struct{ From, To int }

// A Place is the same place in the three texts.
type Place struct{ Base, Disk, Text Span }

// A Merge is what becomes of a text whose file has changed beneath it.
type Merge struct {
	Text      string  // the text with each change of the disk that overlaps none of its own
	Known     string  // the base with each change of the disk that the text had already
	Then      string  // the same of Text: the base once that is the text
	Offered   int     // how many changes Text has that the text had not
	Conflicts []Place // what both have changed, each in another way; Text has the text's lines there
	Unmerged  []Place // where the disk has what the text had not: Conflicts, and what is offered
}

// A change is one that a side has made of lines of the base.
type change struct {
	base, here Span
	disk       bool
}

// Of merges what base has become on disk into what it has become in text. Where a change of the disk conflicts, the others in
// the same one of the spans of the disk, together, are part of the conflict.
func Of(base, disk, text string, together []Span) Merge {
	base = absorb(base, disk, text)
	b, d, t := lines(base), lines(disk), lines(text)
	all := append(changes(base, disk, true), changes(base, text, false)...)
	slices.SortStableFunc(all, func(x, y change) int {
		return cmp.Or(cmp.Compare(x.base.From, y.base.From), cmp.Compare(x.base.To, y.base.To))
	})
	m := Merge{Known: base}
	var merged, then joiner
	at := Place{}
	for _, c := range chunks(all, together) {
		merged.add(t[at.Text.To:c.Text.From]...)
		then.add(b[at.Base.To:c.Base.From]...)
		at = c.Place
		was, theirs, mine := b[c.Base.From:c.Base.To], d[c.Disk.From:c.Disk.To], t[c.Text.From:c.Text.To]
		switch {
		case !c.byDisk:
			merged.add(mine...)
			then.add(was...)
		case slices.Equal(theirs, mine):
			merged.add(mine...)
			then.add(theirs...)
		case !c.byText:
			merged.add(theirs...)
			then.add(theirs...)
			m.Offered++
			m.Unmerged = append(m.Unmerged, c.Place)
		default:
			merged.add(mine...)
			then.add(was...)
			m.Conflicts, m.Unmerged = append(m.Conflicts, c.Place), append(m.Unmerged, c.Place)
		}
	}
	merged.add(t[at.Text.To:]...)
	then.add(b[at.Base.To:]...)
	m.Text, m.Then = merged.String(), then.String()
	return m
}

// absorb returns base with the changes of the disk that text has, too: their lines are all there, or nothing is
// where they only delete.
func absorb(base, disk, text string) string {
	b, d := lines(base), lines(disk)
	since := changes(disk, text, false)
	var known joiner
	at := 0
	for _, c := range changes(base, disk, true) {
		in := !slices.ContainsFunc(since, func(s change) bool {
			if c.here.From == c.here.To {
				return s.base.Touches(c.here)
			}
			return s.base.From < s.base.To && s.base.Touches(c.here)
		})
		known.add(b[at:c.base.From]...)
		if in {
			known.add(d[c.here.From:c.here.To]...)
		} else {
			known.add(b[c.base.From:c.base.To]...)
		}
		at = c.base.To
	}
	known.add(b[at:]...)
	return known.String()
}

// A chunk is a place that one side has changed, or both.
type chunk struct {
	Place
	byDisk, byText bool
}

// chunks joins the changes that overlap, and what goes together with one where both have changed something.
func chunks(all []change, together []Span) []chunk {
	var found []chunk
	shift := [2]int{} // what the lines of the disk, and of the text, are ahead of the base's
	for i := 0; i < len(all); {
		c := chunk{Place: Place{Base: all[i].base}}
		begun := shift
		n := i
		for ; n < len(all) && (n == i || overlap(c.Base, all[n].base)); n++ {
			c.Base.To = max(c.Base.To, all[n].base.To)
			grown := all[n].here.To - all[n].here.From - (all[n].base.To - all[n].base.From)
			if all[n].disk {
				c.byDisk = true
				shift[0] += grown
			} else {
				c.byText = true
				shift[1] += grown
			}
		}
		c.Disk = Span{c.Base.From + begun[0], c.Base.To + shift[0]}
		c.Text = Span{c.Base.From + begun[1], c.Base.To + shift[1]}
		found = append(found, c)
		i = n
	}
	for again := true; again; {
		again = false
		for _, s := range together {
			from, to, both := -1, -1, false
			for i, c := range found {
				if c.byDisk && c.Disk.Touches(s) {
					if from < 0 {
						from = i
					}
					to, both = i, both || c.byText
				}
			}
			if !both || from == to {
				continue
			}
			one := found[from]
			for _, c := range found[from+1 : to+1] {
				one.Base.To, one.Disk.To, one.Text.To = c.Base.To, c.Disk.To, c.Text.To
			}
			one.byText = true
			found, again = slices.Replace(found, from, to+1, one), true
		}
	}
	return found
}

// overlap reports whether two changes of the base are of the same lines, the first not behind the other: an insertion at
// the edge of other lines is beside them, and two insertions at one place have no order.
func overlap(a, b Span) bool {
	return b.From < a.To || a.From == a.To && b.From == b.To && a.From == b.From
}

func changes(base, now string, disk bool) []change {
	var all []change
	shift := 0
	for _, e := range diffs.LineEdits(base, now) {
		n := len(lines(e.Text))
		all = append(all, change{Span{e.From, e.To}, Span{e.From + shift, e.From + shift + n}, disk})
		shift += n - (e.To - e.From)
	}
	return all
}

// lines cuts a text behind each LF; a last piece without one is a line too.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// Lines returns the lines of a span of a text.
func Lines(text string, s Span) []string { return lines(text)[s.From:s.To] }

// Replace returns text with other lines in the place of a span. Two lines are never glued.
func Replace(text string, s Span, others ...string) string {
	var j joiner
	all := lines(text)
	j.add(all[:s.From]...)
	j.add(others...)
	j.add(all[s.To:]...)
	return j.String()
}

// A joiner puts lines behind each other. A line that is no longer the last gets a line end, as others have it.
type joiner struct {
	strings.Builder
	open bool
	crlf bool
}

func (j *joiner) add(all ...string) {
	for _, line := range all {
		if j.open {
			if j.crlf {
				j.WriteByte('\r')
			}
			j.WriteByte('\n')
		}
		j.WriteString(line)
		j.open = !strings.HasSuffix(line, "\n")
		j.crlf = j.crlf || strings.HasSuffix(line, "\r\n")
	}
}
