package lsp

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cursord/daemon/api"
)

// Positions in texts are LSP's, as the daemon has them.
type (
	Position = api.Position
	Range    = api.Range
)

// An encoding says what Position.Character counts.
type encoding string

const (
	utf8Encoding  encoding = "utf-8"
	utf16Encoding encoding = "utf-16"
	utf32Encoding encoding = "utf-32"
)

// A text is what a document holds. Positions count lines as LSP does, which end in LF, CR LF or CR; hunks count
// lines as git does, which end in LF.
type text struct {
	s     string
	rows  []int // where LSP's lines begin
	lines []int // where git's lines begin; the last one may be empty and is then none for git
}

func newText(s string) *text {
	t := &text{s: s, lines: []int{0}}
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

// rowsOf returns where the lines begin of a text that has some that end in CR.
func rowsOf(s string) []int {
	rows := []int{0}
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			rows = append(rows, i+1)
		}
	}
	return rows
}

// offset returns the byte that a position names; one beyond the end of its line, or of the text, is that end.
func (t *text) offset(p Position, e encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.rows) {
		return len(t.s)
	}
	start, end := t.rows[p.Line], len(t.s)
	if p.Line+1 < len(t.rows) {
		end = t.rows[p.Line+1]
	}
	line := strings.TrimRight(t.s[start:end], "\r\n")
	if e == utf8Encoding {
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

// position returns the position of a byte.
func (t *text) position(offset int, e encoding) Position {
	row := sort.SearchInts(t.rows, offset+1) - 1
	part := t.s[t.rows[row]:offset]
	if e == utf8Encoding {
		return Position{Line: row, Character: len(part)}
	}
	units := 0
	for _, r := range part {
		units += width(r, e)
	}
	return Position{Line: row, Character: units}
}

func width(r rune, e encoding) int {
	if e == utf16Encoding {
		return max(utf16.RuneLen(r), 1)
	}
	return 1
}

// span returns the range between two bytes.
func (t *text) span(from, to int, e encoding) Range {
	return Range{Start: t.position(from, e), End: t.position(to, e)}
}

// edit returns the text with a part of it replaced.
func (t *text) edit(r Range, e encoding, now string) *text {
	from := t.offset(r.Start, e)
	to := max(from, t.offset(r.End, e))
	return newText(t.s[:from] + now + t.s[to:])
}

// count returns how many lines git sees.
func (t *text) count() int {
	if t.lines[len(t.lines)-1] == len(t.s) {
		return len(t.lines) - 1
	}
	return len(t.lines)
}

// lineStart returns where git's line i begins; that behind the last one is the end.
func (t *text) lineStart(i int) int {
	if i >= len(t.lines) {
		return len(t.s)
	}
	return t.lines[max(i, 0)]
}

// line returns git's line i without its end, nor the mark that may begin the text.
func (t *text) line(i int) string {
	line := strings.TrimSuffix(strings.TrimSuffix(t.s[t.lineStart(i):t.lineStart(i+1)], "\n"), "\r")
	if i == 0 {
		return strings.TrimPrefix(line, byteOrderMark)
	}
	return line
}

// lineAt returns git's line that a position is in.
func (t *text) lineAt(p Position, e encoding) int {
	return sort.SearchInts(t.lines, t.offset(p, e)+1) - 1
}

// lineRange returns the range of git's lines from and to, which is behind the last: without its line end. No lines
// are an empty range.
func (t *text) lineRange(from, to int, e encoding) Range {
	start := t.lineStart(from)
	if to <= from {
		return t.span(start, start, e)
	}
	end := strings.TrimRight(t.s[t.lineStart(to-1):t.lineStart(to)], "\r\n")
	return t.span(start, t.lineStart(to-1)+len(end), e)
}

// toward returns the edit that makes a text another one and leaves the lines alone with which both begin and end.
func (t *text) toward(now string, e encoding) textEdit {
	same := commonPrefix(t.s, now)
	tail := 0
	for tail < min(len(t.s), len(now))-same && t.s[len(t.s)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	if n := strings.IndexByte(now[len(now)-tail:], '\n'); n >= 0 {
		tail -= n + 1
	} else {
		tail = 0
	}
	return textEdit{Range: t.span(same, len(t.s)-tail, e), NewText: now[same : len(now)-tail]}
}
