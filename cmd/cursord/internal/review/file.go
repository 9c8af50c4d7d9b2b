package review

import (
	"fmt"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/sessions"
)

// A reviewFile is a file under review, with the person's place in it. Places are counted in steps: each changed line of each
// hunk is a step, and so is a hunk without lines.
type reviewFile struct {
	diff *sessions.Diff // what is left to review
	cuts []int          // steps at which the person has split a hunk, ascending
	at   int            // the first step of the present part; the number of steps at the file's end
}

// A part is decided at once: a hunk, or some changed lines of a hunk that the person has split.
type part struct {
	hunk     sessions.Hunk
	from, to int // changed lines of the hunk, to excluded
	of       int // number of changed lines in the hunk; 0 if it has no lines
	step     int // the part's first step
}

func (p part) whole() bool { return p.to-p.from >= p.of }

// splits reports whether the part can be split into smaller ones.
func (p part) splits() bool { return p.to-p.from > 1 && !p.hunk.BothChanged() }

// changedLines returns the indices of a hunk's changed lines.
func changedLines(h sessions.Hunk) (at []int) {
	for i, line := range h.Lines {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			at = append(at, i)
		}
	}
	return at
}

// steps returns the text of each step of a diff.
func steps(d *sessions.Diff) (all []string) {
	for _, h := range d.Hunks {
		changed := changedLines(h)
		for _, i := range changed {
			all = append(all, h.Lines[i])
		}
		if len(changed) == 0 {
			all = append(all, "hunk "+h.ID)
		}
	}
	return all
}

// parts returns the parts of the file in order.
func (f *reviewFile) parts() (all []part) {
	step := 0
	for _, h := range f.diff.Hunks {
		n := len(changedLines(h))
		end := step + max(n, 1)
		from := step
		for _, cut := range append(slices.Clone(f.cuts), end) {
			if cut > from && cut <= end {
				all = append(all, part{hunk: h, from: from - step, to: min(cut-step, n), of: n, step: from})
				from = cut
			}
		}
		step = end
	}
	return all
}

// present returns the present part, its index and the number of parts. ok is false at the end of the file.
func (f *reviewFile) present() (p part, i, of int, ok bool) {
	all := f.parts()
	i = slices.IndexFunc(all, func(p part) bool { return f.at < p.step+max(p.to-p.from, 1) })
	if i < 0 {
		return part{}, 0, len(all), false
	}
	f.at = all[i].step
	return all[i], i, len(all), true
}

// split splits a part: if possible into runs of changed lines, else into runs of removed and added lines, else into single
// lines. It returns false if the part is a single step.
func (f *reviewFile) split(p part) bool {
	at := changedLines(p.hunk)
	sign := func(i int) byte { return p.hunk.Lines[at[i]][0] }
	for _, apart := range []func(i int) bool{
		func(i int) bool { return at[i] > at[i-1]+1 },
		func(i int) bool { return sign(i) != sign(i-1) },
		func(int) bool { return true },
	} {
		found := false
		for i := p.from + 1; i < p.to; i++ {
			if apart(i) {
				f.cuts = append(f.cuts, p.step+i-p.from)
				found = true
			}
		}
		if found {
			slices.Sort(f.cuts)
			return true
		}
	}
	return false
}

// setDiff replaces the diff. The steps from (included) to to (excluded) are known to be gone. If steps are gone and none are
// new, the person's place and splits stay; otherwise the splits are dropped, and the place is found by its hunk.
func (f *reviewFile) setDiff(d *sessions.Diff, from, to int) {
	old, now := steps(f.diff), steps(d)
	place := make([]int, len(old)+1) // new index of each old step, or of the next step that remains
	next := 0
	for i, step := range old {
		place[i] = next
		if (i < from || i >= to) && next < len(now) && now[next] == step {
			next++
		}
	}
	place[len(old)] = next
	if next == len(now) {
		for i, cut := range f.cuts {
			f.cuts[i] = place[min(cut, len(old))]
		}
		f.at = place[min(f.at, len(old))]
	} else {
		f.cuts, f.at = nil, f.find(d)
	}
	f.diff = d
}

// find returns the first step of the present hunk in another diff of the file. If the hunk is gone, it returns that of the
// next one.
func (f *reviewFile) find(d *sessions.Diff) int {
	p, _, _, ok := f.present()
	other := reviewFile{diff: d}
	all := other.parts()
	i := -1
	if ok {
		i = slices.IndexFunc(all, func(q part) bool { return q.hunk.ID == p.hunk.ID })
		if i < 0 {
			i = slices.IndexFunc(all, func(q part) bool { return q.hunk.NewStart >= p.hunk.NewStart })
		}
	}
	if i < 0 {
		return len(steps(d))
	}
	return all[i].step
}

// line returns the part's line in the file, from 1.
func (p part) line() int {
	line := p.hunk.NewStart
	changed := -1
	for _, text := range p.hunk.Lines {
		isNew := strings.HasPrefix(text, "+")
		if isNew || strings.HasPrefix(text, "-") {
			changed++
		}
		if changed == p.from {
			break
		}
		if !strings.HasPrefix(text, "-") {
			line++
		}
	}
	return max(line, 1)
}

// show returns a part as text with its context; what is said about it is folded to a number of columns. The nearest other changed
// lines of its hunk are marked with a dot.
func (p part) show(c term.Palette, columns int) string {
	const around = 3
	lines := view.HunkLines(c, p.hunk)
	head := view.HunkHead(c, p.hunk)
	if !p.whole() {
		at := changedLines(p.hunk)
		noun, which := "line", fmt.Sprint(p.to)
		if p.to-p.from > 1 {
			noun, which = "lines", fmt.Sprintf("%d-%d", p.from+1, p.to)
		}
		head += c.Dim(fmt.Sprintf(" changed %s %s of %d", noun, which, p.of))
		for n, i := range at {
			if n < p.from || n >= p.to {
				lines[i] = c.Dim("·" + term.CleanText(p.hunk.Lines[i]))
			}
		}
		first, last := max(at[p.from]-around, 0), min(at[p.to-1]+around+1, len(lines))
		lines = lines[first:last]
	}
	return strings.Join(append([]string{term.Fold(head, columns)}, lines...), "\n") + "\n"
}

// sameHunks reports whether the hunks with these ids are the same in two diffs. Hunks without lines never count as the same,
// as a diff does not show their content.
func sameHunks(a, b *sessions.Diff, ids []string) bool {
	for _, id := range ids {
		x, y := hunkOf(a, id), hunkOf(b, id)
		if x == nil || y == nil || len(x.Lines) == 0 || x.Kind != y.Kind || x.OldNoEOL != y.OldNoEOL || x.NewNoEOL != y.NewNoEOL ||
			!slices.Equal(changedText(*x), changedText(*y)) || a.Kind != b.Kind {
			return false
		}
	}
	return true
}

func changedText(h sessions.Hunk) (lines []string) {
	for _, i := range changedLines(h) {
		lines = append(lines, h.Lines[i])
	}
	return lines
}

func hunkOf(d *sessions.Diff, id string) *sessions.Hunk {
	for i := range d.Hunks {
		if d.Hunks[i].ID == id {
			return &d.Hunks[i]
		}
	}
	return nil
}

// LineOf returns the line at which a hunk begins in its file; 0 if the hunk has no lines or is not in d.
func LineOf(d *sessions.Diff, id string) int {
	if h := hunkOf(d, id); h != nil && len(h.Lines) > 0 {
		return part{hunk: *h}.line()
	}
	return 0
}
