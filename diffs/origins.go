package diffs

import (
	"slices"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// An Origin says where the lines From to To (exclusive) of the present text come from.
type Origin struct {
	From, To int
	Source   *Source // nil: a person, or nobody knows
	At       int64   // when, in ms since 1970; 0: not known
	Pending  bool
	ByText   bool   // a person has moved the lines, or brought them back: only their text tells the source
	Once     bool   // a person has moved the lines in one step, which had each of them once
	Commit   string // without a Source: the commit by which an edit has brought the lines; "" if that is not known

	Was     []string // what the lines were before, as far as somebody has asked
	WasMore int      // how many such lines are left out
}

// Origins returns the origins of all lines of the present text; nil for a content without lines.
func (r *Review) Origins() (origins []Origin) {
	lines, removed := r.present().lines, map[string]int32(nil)
	if slices.ContainsFunc(r.sources.by, func(s Source) bool { return s.Commit != "" }) {
		removed = r.past.Replaced()
	}
	for i, w := range r.writers(lines) {
		origins = r.origin(origins, i, w.by, Origin{Pending: w.pending, ByText: w.moved}, lines[i].Text, removed)
	}
	return Tell(origins, string(r.Current().Data))
}

// OriginsOf returns the origins of the lines of another text of the file, for instance of a commit. Lines that the present text has at
// the same place have its origins. Others are known by their text, if edits have written it and it is not in the file any more.
func (r *Review) OriginsOf(text string) (origins []Origin) {
	lines, present := linetext.Split(text), r.present().lines
	here := make([]int, len(lines)) // the present line and 1; 0: none
	common := 0
	linetext.Common(trimmed(weave.Texts(present)), trimmed(slices.Clone(lines)), func(i, j int) {
		here[j], common = i+1, common+linetext.Known(lines[j:j+1])
	})
	another := linetext.Replaced(linetext.Known(weave.Texts(present)), linetext.Known(lines), common)
	removed, writers := r.past.Replaced(), r.writers(present)
	for j, l := range lines {
		if i := here[j] - 1; i >= 0 {
			w := writers[i]
			origins = r.origin(origins, j, w.by, Origin{Pending: w.pending, ByText: w.moved || another}, l, removed)
			continue
		}
		by := r.ofText(l, removed)
		origins = r.origin(origins, j, by, Origin{ByText: by != 0}, l, removed)
	}
	return Tell(origins, text)
}

// ofText returns the edit that wrote a line with this text which was taken out of the file, by a person or by one of the edits whose
// removed lines are given; 0 if none is known.
func (r *Review) ofText(line string, removed map[string]int32) (by int32) {
	if by = r.past.OfText(line); by == 0 && linetext.Key(line) != "" {
		by = removed[weave.TrimEnd(line)]
	}
	return by
}

// Known counts the lines whose edits the review knows: those of the present text, and those that a person has taken out of it.
func (r *Review) Known() (n int) {
	for _, w := range r.writers(r.present().lines) {
		if w.by != 0 && r.sources.commit(w.by) == "" {
			n++
		}
	}
	return n + r.past.Gone()
}

// origin adds a line of an edit to origins; like says the rest of it. A line that a commit has only brought back is of the edit that wrote
// it first, if its text tells that one.
func (r *Review) origin(origins []Origin, line int, by int32, like Origin, text string, removed map[string]int32) []Origin {
	o := like
	o.From, o.To = line, line+1
	src := r.sources.of([]int32{by})
	switch {
	case by == 0 || len(src) == 0:
		o.ByText = false
	case src[0].Commit != "":
		o.ByText, o.Commit = false, src[0].Commit
		first := r.ofText(text, removed)
		if src := r.sources.of([]int32{first}); len(src) > 0 && src[0].Commit == "" {
			o.Source, o.At, o.ByText = &src[0], r.past.When(first), true
		}
	default:
		o.Source, o.At, o.Once = &src[0], r.past.When(by), o.ByText && r.past.MovedOnce(text, by)
	}
	if k := len(origins) - 1; k >= 0 && !o.Once && origins[k].like(&o) {
		origins[k].To = o.To
		return origins
	}
	return append(origins, o)
}

func (o *Origin) like(p *Origin) bool {
	return o.Pending == p.Pending && o.At == p.At && o.ByText == p.ByText && o.Once == p.Once && o.Commit == p.Commit && (o.Source == nil) == (p.Source == nil) &&
		(o.Source == nil || *o.Source == *p.Source)
}

// Former returns the lines, without their ends, in whose place the edit of an origin wrote the origin's lines. If these are a part of what the
// edit wrote there, it returns all lines that the whole replaced.
func (r *Review) Former(o Origin) (lines []string) {
	by, _ := r.past.Of(o.From)
	if src := r.sources.of([]int32{by}); o.Source == nil || len(src) == 0 || src[0] != *o.Source {
		return nil // another edit has brought the lines back
	}
	lines = r.past.Former(o.From, o.To)
	for i, l := range lines {
		lines[i] = weave.TrimEnd(l)
	}
	return lines
}
