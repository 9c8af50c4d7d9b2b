package hunks

import (
	"cmp"
	"slices"
	"strings"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// WithoutMark returns s without a byte order mark.
func WithoutMark(s string) string { return strings.TrimPrefix(s, protocol.ByteOrderMark) }

// BothSides returns a text without the changes of all placed hunks, and with them. A nil text is that of a missing file. at is
// called for each hunk, in order, with the line of after at which the hunk is.
func BothSides(base *protocol.Text, list []Placed, at func(p *Placed, line int)) (before, after string) {
	if base == nil {
		base = protocol.NewText("")
	}
	eol := "\n"
	if strings.Contains(base.Content, "\r\n") {
		eol = "\r\n"
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Placed) int { return cmp.Compare(a.From, b.From) })
	var was, is strings.Builder
	line := 0 // of is
	add := func(old, now string) {
		was.WriteString(old)
		is.WriteString(now)
		line += strings.Count(now, "\n")
	}
	next := 0 // the line of base that is to be copied next
	copyTo := func(end int) {
		if end > next {
			part := base.Content[base.LineStart(next):base.LineStart(end)]
			add(part, part)
			next = end
		}
	}
	for i := range list {
		p := &list[i]
		from, to := p.From, p.To
		old, now := "", ""
		switch {
		case p.Hunk.Kind == "text":
			before, after := Sides(p.Hunk)
			old, now = joined(before.changed(), eol, p.Hunk.OldNoEOL && before.Tail == 0), joined(after.changed(), eol, p.Hunk.NewNoEOL && after.Tail == 0)
		case p.Diff.Kind == sessions.DiffCreated || p.Diff.Kind == sessions.DiffDeleted:
			before, after := Sides(p.Hunk)
			old, now = joined(before.Lines, eol, p.Hunk.OldNoEOL), joined(after.Lines, eol, p.Hunk.NewNoEOL)
			from, to = 0, base.CountLines()
		default:
			at(p, 0)
			continue
		}
		copyTo(from)
		at(p, line)
		if p.Side == Neither || from < next {
			continue
		}
		here := base.Content[base.LineStart(from):base.LineStart(to)]
		if p.Side == NewSide {
			add(old, here)
		} else {
			add(here, now)
		}
		next = max(next, to)
	}
	copyTo(base.CountLines())
	return WithoutMark(was.String()), WithoutMark(is.String())
}

func joined(lines []string, eol string, open bool) string {
	if len(lines) == 0 {
		return ""
	}
	s := strings.Join(lines, eol)
	if !open {
		s += eol
	}
	return s
}
