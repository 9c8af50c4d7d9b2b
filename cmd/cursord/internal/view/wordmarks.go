package view

import (
	"strings"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/term"
	"cursord/diffs/words"
)

const (
	markLimit  = 2000 // bytes; in longer lines no words are marked
	markWindow = 8    // lines searched for the counterpart of a line
)

// A mark is a changed part of a line: the bytes from From to To, exclusive, of the line with its sign.
type mark struct{ From, To int }

// markWords returns the changed words of each line of a hunk. A line without a similar line on the other side has no marks.
func markWords(lines []string) [][]mark {
	marks := make([][]mark, len(lines))
	for i := 0; i < len(lines); {
		del := i
		for i < len(lines) && strings.HasPrefix(lines[i], "-") {
			i++
		}
		ins := i
		for i < len(lines) && strings.HasPrefix(lines[i], "+") {
			i++
		}
		if i == del {
			i++ // context
			continue
		}
		markRun(lines, marks, del, ins, i)
	}
	return marks
}

// markRun pairs the removed lines from del to ins with the added lines from ins to end, in order. If one side has more
// lines, the extra ones may stand before, between or behind the pairs; of a few candidates it takes the most similar.
func markRun(lines []string, marks [][]mark, del, ins, end int) {
	removed, added := ins-del, end-ins
	next := 0
	for i := range removed {
		from := max(next, i-max(removed-added, 0))
		to := min(added, i+max(added-removed, 0)+1, from+markWindow)
		best, at := 0.0, -1
		var oldMarks, newMarks []mark
		for j := from; j < to; j++ {
			if o, n, same := compareWords(lines[del+i], lines[ins+j]); same > best {
				best, at, oldMarks, newMarks = same, j, o, n
			}
		}
		if at >= 0 {
			marks[del+i], marks[ins+at] = oldMarks, newMarks
			next = at + 1
		}
	}
}

// compareWords returns the differences between two lines with their signs, and how similar they are: 1 is equal; 0 also
// means too different to be the same line.
func compareWords(old, new string) (oldMarks, newMarks []mark, same float64) {
	const enough = 0.4
	if len(old) > markLimit || len(new) > markLimit {
		return nil, nil, 0
	}
	whole := inkIn(old[1:]) + inkIn(new[1:])
	if whole == 0 {
		return nil, nil, 0
	}
	changed := 0
	for _, s := range words.Spans(old[1:], new[1:]) {
		changed += inkIn(old[1+s.OldFrom:1+s.OldTo]) + inkIn(new[1+s.NewFrom:1+s.NewTo])
		if s.OldTo > s.OldFrom {
			oldMarks = append(oldMarks, mark{1 + s.OldFrom, 1 + s.OldTo})
		}
		if s.NewTo > s.NewFrom {
			newMarks = append(newMarks, mark{1 + s.NewFrom, 1 + s.NewTo})
		}
	}
	if same = float64(whole-changed) / float64(whole); same < enough {
		return nil, nil, 0
	}
	return oldMarks, newMarks, same
}

// inkIn counts the characters that are not blank.
func inkIn(s string) int {
	return utf8.RuneCountInString(s) - strings.Count(s, " ") - strings.Count(s, "\t")
}

// marked paints a line with its marks in reverse; the line may contain anything.
func marked(p term.Palette, code, line string, marks []mark) string {
	if !p || len(marks) == 0 {
		return p.Paint(code, term.CleanText(line))
	}
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(term.CleanText(line[at:m.From]) + "\x1b[7m" + term.CleanText(line[m.From:m.To]) + "\x1b[27m")
		at = m.To
	}
	return p.Paint(code, b.String()+term.CleanText(line[at:]))
}
