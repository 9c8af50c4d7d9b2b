// Package threeway merges two versions of one text: the disk's, and an editor's unsaved one. It is pure, and works with
// whole lines.
package threeway

import (
	"cmp"
	"slices"
	"strings"

	"cursord/diffs"
)

// A Span is a run of lines, counted from 0; To is exclusive.
type Span struct{ From, To int }

// A Place is a place in all three texts.
type Place struct{ Base, Disk, Text Span }

// A Merge is the result of merging a changed file into an unsaved text.
type Merge struct {
	Text      string  // the text, with each change of the disk that overlaps no change of the text
	Known     string  // the base, with each change of the disk that the text already has
	Then      string  // the base to use once the editor has Text
	Offered   int     // the number of the disk's changes that Text has and the text lacked
	Conflicts []Place // places that both have changed differently; Text has the text's lines there
	Unmerged  []Place // places where the text lacks a change of the disk: the offered changes and Conflicts
}

// A change is a change of lines of the base by one side.
type change struct {
	base, here Span
	disk       bool
	lines      []string // in here
}

// Of merges the changes from base to disk into text. together are spans of the disk: if one change in such a span conflicts,
// all changes in it are part of the conflict.
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

// absorb returns base with the changes of the disk that text already has: text has all their lines or, if they only delete,
// no lines in their place.
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

// A chunk is a place that one side or both have changed.
type chunk struct {
	Place
	byDisk, byText bool
}

// chunks joins changes that overlap. If a span of together has a place that both sides have changed, it joins all the disk's
// changes in that span.
func chunks(all []change, together []Span) []chunk {
	var found []chunk
	shift := [2]int{} // how many lines the disk and the text have more than the base so far
	for i := 0; i < len(all); {
		c := chunk{Place: Place{Base: all[i].base}}
		begun := shift
		n := i
		for ; n < len(all) && (n == i || overlap(c.Base, all[n].base) || all[n].base.From == c.Base.To && repeats(all[i:n], all[n])); n++ {
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

// overlap reports whether two changes concern the same lines of the base; a does not begin after b. An insertion at the edge
// of other lines does not overlap them. Two insertions at one place overlap, because they have no order.
func overlap(a, b Span) bool {
	return b.From < a.To || a.From == a.To && b.From == b.To && a.From == b.From
}

// repeats reports whether a change has a line that an earlier one of the other side has too: it would be there twice.
func repeats(earlier []change, c change) bool {
	return slices.ContainsFunc(earlier, func(e change) bool {
		return e.disk != c.disk && slices.ContainsFunc(c.lines, func(l string) bool {
			return strings.TrimSpace(l) != "" && slices.Contains(e.lines, l)
		})
	})
}

func changes(base, now string, disk bool) []change {
	var all []change
	shift := 0
	for _, e := range diffs.LineEdits(base, now) {
		added := lines(e.Text)
		n := len(added)
		all = append(all, change{Span{e.From, e.To}, Span{e.From + shift, e.From + shift + n}, disk, added})
		shift += n - (e.To - e.From)
	}
	return all
}

// lines cuts a text after each LF; a last piece without LF is a line too.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// Lines returns the lines of a span of a text.
func Lines(text string, s Span) []string { return lines(text)[s.From:s.To] }

// Replace returns text with other lines in the place of a span. It adds a missing line end between two lines.
func Replace(text string, s Span, others ...string) string {
	var j joiner
	all := lines(text)
	j.add(all[:s.From]...)
	j.add(others...)
	j.add(all[s.To:]...)
	return j.String()
}

// A joiner appends lines. If a line without a line end gets a successor, it gets a line end: CRLF if an earlier line has it,
// else LF.
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
