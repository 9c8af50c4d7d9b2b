package protocol

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cursord/rpc"
)

// An Encoding says what Position.Character counts.
type Encoding string

const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// A Text is the content of a document; it does not change. Its positions count the lines of LSP, which end in LF, CR LF or CR. Its
// methods with lines count those of git, which end in LF, from 0.
type Text struct {
	Content string
	rows    []int // where LSP's lines begin
	lines   []int // where git's lines begin; the last one may be empty and is then none for git
}

// NewText returns the text with this content.
func NewText(s string) *Text {
	t := &Text{Content: s, lines: []int{0}}
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		t.lines = append(t.lines, i)
	}
	t.rows = t.lines
	for i := strings.IndexByte(s, '\r'); i >= 0; {
		if i+1 == len(s) || s[i+1] != '\n' {
			t.rows = rowsOf(s)
			break
		}
		next := strings.IndexByte(s[i+1:], '\r')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return t
}

// rowsOf returns where the lines of a text begin that has a line with CR at its end.
func rowsOf(s string) []int {
	rows := []int{0}
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			rows = append(rows, i+1)
		}
	}
	return rows
}

// Offset returns the offset of a position in bytes. A position beyond the end of its line, or of the text, is that end.
func (t *Text) Offset(p Position, e Encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.rows) {
		return len(t.Content)
	}
	start, end := t.rows[p.Line], len(t.Content)
	if p.Line+1 < len(t.rows) {
		end = t.rows[p.Line+1]
	}
	line := strings.TrimRight(t.Content[start:end], "\r\n")
	if e == UTF8 {
		at := min(max(p.Character, 0), len(line))
		for at < len(line) && at > 0 && !utf8.RuneStart(line[at]) {
			at--
		}
		return start + at
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return start + i
		}
		units += width(r, e)
	}
	return start + len(line)
}

// position returns the position of an offset.
func (t *Text) position(offset int, e Encoding) Position {
	row := sort.SearchInts(t.rows, offset+1) - 1
	part := t.Content[t.rows[row]:offset]
	if e == UTF8 {
		return Position{Line: row, Character: len(part)}
	}
	units := 0
	for _, r := range part {
		units += width(r, e)
	}
	return Position{Line: row, Character: units}
}

func width(r rune, e Encoding) int {
	if e == UTF16 {
		return max(utf16.RuneLen(r), 1)
	}
	return 1
}

// Span returns the range between two offsets.
func (t *Text) Span(from, to int, e Encoding) Range {
	return Range{Start: t.position(from, e), End: t.position(to, e)}
}

// Edit returns the text in which now replaces the range.
func (t *Text) Edit(r Range, e Encoding, now string) *Text {
	from := t.Offset(r.Start, e)
	to := max(from, t.Offset(r.End, e))
	return NewText(t.Content[:from] + now + t.Content[to:])
}

// CountLines returns the number of lines.
func (t *Text) CountLines() int {
	if t.lines[len(t.lines)-1] == len(t.Content) {
		return len(t.lines) - 1
	}
	return len(t.lines)
}

// LineStart returns the offset at which a line begins; of a line behind the last, the length of the text.
func (t *Text) LineStart(i int) int {
	if i >= len(t.lines) {
		return len(t.Content)
	}
	return t.lines[max(i, 0)]
}

// Line returns a line without its end and without a byte order mark.
func (t *Text) Line(i int) string {
	line := strings.TrimSuffix(strings.TrimSuffix(t.Content[t.LineStart(i):t.LineStart(i+1)], "\n"), "\r")
	if i == 0 {
		return strings.TrimPrefix(line, ByteOrderMark)
	}
	return line
}

// LineAt returns the line of a position.
func (t *Text) LineAt(p Position, e Encoding) int {
	return sort.SearchInts(t.lines, t.Offset(p, e)+1) - 1
}

// LineRange returns the range of the lines from up to, but without, to. It leaves out the end of the last line. Without lines it is
// an empty range where they would be.
func (t *Text) LineRange(from, to int, e Encoding) Range {
	start := t.LineStart(from)
	if to <= from {
		return t.Span(start, start, e)
	}
	end := strings.TrimRight(t.Content[t.LineStart(to-1):t.LineStart(to)], "\r\n")
	return t.Span(start, t.LineStart(to-1)+len(end), e)
}

// EditTo returns the edit that turns the text into now. It leaves alone the lines with which both begin and end.
func (t *Text) EditTo(now string, e Encoding) TextEdit {
	same := CommonPrefix(t.Content, now)
	tail := 0
	for tail < min(len(t.Content), len(now))-same && t.Content[len(t.Content)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	if n := strings.IndexByte(now[len(now)-tail:], '\n'); n >= 0 {
		tail -= n + 1
	} else {
		tail = 0
	}
	return TextEdit{Range: t.Span(same, len(t.Content)-tail, e), NewText: now[same : len(now)-tail]}
}

// ByteOrderMark may begin a file. Some editors leave it out of what they send.
const ByteOrderMark = "\ufeff"

// CommonPrefix returns the length, in bytes, of the lines with which two texts both begin.
func CommonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// LineOf returns the line of an offset.
func (t *Text) LineOf(offset int) int { return sort.SearchInts(t.lines, offset+1) - 1 }

// Before returns the part of a position's line, as LSP counts lines, that is before the position.
func (t *Text) Before(p Position, e Encoding) string {
	return t.Content[t.rows[max(0, min(p.Line, len(t.rows)-1))]:t.Offset(p, e)]
}

// IsKind reports whether a code action's kind is one that an editor asks for.
func IsKind(kind, only string) bool {
	return only == "" || kind == only || strings.HasPrefix(kind, only+".")
}

// Wrong returns an error as one of JSON-RPC.
func Wrong(err error) *rpc.Error {
	e, ok := err.(*rpc.Error)
	if !ok {
		return &rpc.Error{Message: err.Error()}
	}
	return e
}
