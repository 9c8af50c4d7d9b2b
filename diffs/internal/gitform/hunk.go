package gitform

import (
	"bytes"
	"fmt"
	"strings"

	"cursord/diffs/internal/linetext"
)

// A Hunk is a part of a change of a text. Lines are counted from 1; an empty side starts at the line before it, with count 0.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []string // with their marks, without their ends
	OldNoEOL, NewNoEOL bool     // the last line of that side is in Lines and has no line end
}

// Start returns where a side starts that has so many lines behind a number of others.
func Start(before, count int) int {
	if count == 0 {
		return before
	}
	return before + 1
}

// Before is the inverse of Start: it returns the number of lines before a side.
func Before(start, count int) int {
	if count == 0 {
		return start
	}
	return start - 1
}

// Whole returns the hunk that replaces one content by another.
func Whole(old, now Side) (h Hunk) {
	add := func(mark string, s Side) (n int, noEOL bool) {
		lines := linetext.Split(string(s.Data))
		for _, l := range lines {
			h.Lines = append(h.Lines, mark+strings.TrimSuffix(l, "\n"))
			noEOL = !strings.HasSuffix(l, "\n")
		}
		return len(lines), noEOL
	}
	h.OldLines, h.OldNoEOL = add("-", old)
	h.NewLines, h.NewNoEOL = add("+", now)
	h.OldStart, h.NewStart = Start(0, h.OldLines), Start(0, h.NewLines)
	return h
}

// Bounded writes hunks whose texts have so many more lines before them, as far as they fit in most bytes, and counts the lines of all. If the
// first one does not fit, it writes that one's first lines. cut says that lines are left out.
func Bounded(hunks []Hunk, before, most int) (text string, added, removed int, cut bool) {
	hunks = drifted(hunks)
	for i := range hunks {
		hunks[i].OldStart, hunks[i].NewStart = hunks[i].OldStart+before, hunks[i].NewStart+before
		for _, line := range hunks[i].Lines {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	var b bytes.Buffer
	for i := range hunks {
		end := b.Len()
		if hunks[i].write(&b); b.Len() <= most {
			continue
		}
		if cut = true; i > 0 {
			b.Truncate(end)
			break
		}
		b.Reset()
		if h := hunks[0].begin(most); len(h.Lines) > 0 {
			h.write(&b)
		}
		break
	}
	return b.String(), added, removed, cut
}

// begin returns the first lines of a hunk, as one that takes at most so many bytes in a patch.
func (h *Hunk) begin(most int) Hunk {
	const around = 128 // of the head, and of the words about a missing line end
	cut, size := *h, around
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
	cut.OldStart = Start(Before(h.OldStart, h.OldLines), cut.OldLines)
	cut.NewStart = Start(Before(h.NewStart, h.NewLines), cut.NewLines)
	return cut
}

// drifted returns hunks as a patch has them: joined, and on its new side where they are if it has no others.
func drifted(hunks []Hunk) []Hunk {
	joined, drift := join(hunks), 0
	for i := range joined {
		h := &joined[i]
		h.NewStart = Start(Before(h.OldStart, h.OldLines)+drift, h.NewLines)
		drift += h.NewLines - h.OldLines
	}
	return joined
}

// join joins hunks whose context overlaps or touches, as git does, and leaves out hunks without lines.
func join(hunks []Hunk) []Hunk {
	var joined []Hunk
	for _, h := range hunks {
		if len(h.Lines) == 0 {
			continue
		}
		if n := len(joined); n > 0 {
			p := &joined[n-1]
			before := Before(p.OldStart, p.OldLines)
			overlap := before + p.OldLines - Before(h.OldStart, h.OldLines)
			if overlap >= 0 {
				p.Lines = append(p.Lines[:len(p.Lines):len(p.Lines)], h.Lines[overlap:]...)
				p.OldLines += h.OldLines - overlap
				p.NewLines += h.NewLines - overlap
				p.OldStart = Start(before, p.OldLines)
				p.OldNoEOL, p.NewNoEOL = h.OldNoEOL, h.NewNoEOL
				continue
			}
		}
		joined = append(joined, h)
	}
	return joined
}

func (h *Hunk) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
	lastOld, lastNew := -1, -1
	for i, l := range h.Lines {
		if l[0] != '+' && h.OldNoEOL {
			lastOld = i
		}
		if l[0] != '-' && h.NewNoEOL {
			lastNew = i
		}
	}
	for i, l := range h.Lines {
		b.WriteString(l)
		b.WriteByte('\n')
		if i == lastOld || i == lastNew {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
