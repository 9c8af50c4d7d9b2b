package hunks

import (
	"cmp"
	"slices"

	"cursord/editors/lsp/protocol"
)

// Next returns the next hunk behind a line of a document, or with step -1 the one before it; nil if there are none. Hunks are in the order
// of their documents' URIs, those of the document last at the end, and of their lines there. Behind the last one comes the first.
func Next(all []Placed, last, uri string, line, step int, e protocol.Encoding) *Placed {
	compare := func(p *Placed, uri string, line int) int {
		switch {
		case p.URI == uri:
			return p.LineRange(e).Start.Line - line
		case p.URI == last:
			return 1
		case uri == last:
			return -1
		}
		return cmp.Compare(p.URI, uri)
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Placed) int { return compare(&a, b.URI, b.LineRange(e).Start.Line) })
	before, upTo := 0, 0 // so many hunks come before the place, and so many up to it
	for i := range all {
		at := compare(&all[i], uri, line)
		if at < 0 {
			before++
		}
		if at <= 0 {
			upTo++
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case step < 0:
		return &all[(before+len(all)-1)%len(all)]
	}
	return &all[upTo%len(all)]
}
