package diffs

import (
	"bytes"

	"cursord/diffs/internal/linetext"
)

// A Change is what has become of a file, from one content to the next.
type Change struct {
	Kind           Kind
	Added, Removed int
	Hunks          string // of a unified diff, without the names of the files; "" for a content that is no text
	Cut            bool   // Hunks lacks some, because it would be too long
}

// Change returns what has become of a file that held before and now holds after. Hunks that do not fit in most bytes are left out; if the
// first one does not fit, its first lines are there.
func (l Limits) Change(before, after Content, most int) Change {
	between := 0 // how many lines come before those that are compared
	if isLines(l, before) && isLines(l, after) && (before.Mode == after.Mode || before.Mode == 0 || after.Mode == 0) {
		before.Data, after.Data, between = linetext.Apart(string(before.Data), string(after.Data), contextLines)
	}
	r := l.New(before)
	r.Observe(after, &Source{})
	c := Change{Kind: r.Kind()}
	hunks := r.Hunks()
	switch {
	case c.Kind == Binary || c.Kind == Large:
		return c
	case r.whole != nil: // a link, before or after
		hunks = []Hunk{wholeHunk(before, after)}
	}
	hunks = drifted(hunks)
	for i := range hunks {
		hunks[i].OldStart, hunks[i].NewStart = hunks[i].OldStart+between, hunks[i].NewStart+between
		for _, line := range hunks[i].Lines {
			switch line[0] {
			case '+':
				c.Added++
			case '-':
				c.Removed++
			}
		}
	}
	var b bytes.Buffer
	for i := range hunks {
		end := b.Len()
		if writeHunk(&b, hunks[i]); b.Len() <= most {
			continue
		}
		if c.Cut = true; i > 0 {
			b.Truncate(end)
			break
		}
		b.Reset()
		if h := begin(hunks[0], most); len(h.Lines) > 0 {
			writeHunk(&b, h)
		}
		break
	}
	c.Hunks = b.String()
	return c
}

// isLines reports whether a content is a file that is reviewed by lines.
func isLines(l Limits, c Content) bool {
	return c.Exists && c.Target == "" && l.Classify(c.Data) == Modified
}

// begin returns the first lines of a hunk, as one that takes at most so many bytes in a patch.
func begin(h Hunk, most int) Hunk {
	const around = 128 // of the head, and of the words about a missing line end
	cut, size := h, around
	cut.Lines, cut.OldLines, cut.NewLines = nil, 0, 0
	for _, line := range h.Lines {
		if size += len(line) + 1; size > most {
			break
		}
		cut.Lines = append(cut.Lines, line)
		if line[0] != '+' {
			cut.OldLines++
		}
		if line[0] != '-' {
			cut.NewLines++
		}
	}
	cut.OldNoEOL, cut.NewNoEOL = h.OldNoEOL && cut.OldLines == h.OldLines, h.NewNoEOL && cut.NewLines == h.NewLines
	cut.OldStart = startLine(endLine(h.OldStart, h.OldLines), cut.OldLines)
	cut.NewStart = startLine(endLine(h.NewStart, h.NewLines), cut.NewLines)
	return cut
}
