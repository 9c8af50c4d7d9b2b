package hunks

import (
	"strings"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// A Mark is the place of a hunk in a document. It moves when the user types, until the daemon says the place again.
type Mark struct {
	Side     Side
	From, To int
}

// A LineEdit replaces the lines from up to, but without, to by so many lines.
type LineEdit struct {
	Version  int // of the document after it
	from, to int
	lines    int
}

// Last returns the last line that an edit has changed.
func (t LineEdit) Last() int { return max(t.from, t.from+t.lines-1) }

// Moved returns the mark after an edit. Lines that were changed inside of it belong to it.
func (m Mark) Moved(t LineEdit) Mark {
	grown := t.lines - (t.to - t.from)
	switch {
	case t.from < m.To && m.From < t.to:
		m.From, m.To = min(m.From, t.from), max(m.To, t.to)+grown
	case t.to <= m.From:
		m.From, m.To = m.From+grown, m.To+grown
	}
	return m
}

// LinesOfEdit returns which lines of a text are replaced when the text in a range is.
func LinesOfEdit(t *protocol.Text, r protocol.Range, e protocol.Encoding, now string) (at LineEdit) {
	from := t.Offset(r.Start, e)
	to := max(from, t.Offset(r.End, e))
	at.from, at.lines = t.LineOf(from), strings.Count(now, "\n")
	at.to = t.LineOf(to)
	if t.LineStart(at.from) == from && t.LineStart(at.to) == to && (now == "" || strings.HasSuffix(now, "\n")) {
		return at
	}
	at.to, at.lines = at.to+1, at.lines+1
	return at
}

// LinesBetween returns which lines of a text are replaced when it becomes another.
func LinesBetween(t, now *protocol.Text) LineEdit {
	head, most := 0, min(t.CountLines(), now.CountLines())
	for head < most && t.Line(head) == now.Line(head) {
		head++
	}
	tail := 0
	for tail < most-head && t.Line(t.CountLines()-1-tail) == now.Line(now.CountLines()-1-tail) {
		tail++
	}
	return LineEdit{from: head, to: t.CountLines() - tail, lines: now.CountLines() - tail - head}
}

// LineInWorkTree returns the line of a file in the work tree for a line, from 0, of the file as an isolated session has it.
func LineInWorkTree(d *sessions.Diff, line int) int {
	here := line
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.Kind != "text" || !h.Elsewhere() {
			continue
		}
		old, now := Sides(h)
		from, to := Start(h.NewStart, h.NewLines)+now.Before, Start(h.NewStart, h.NewLines)+len(now.Lines)-now.Tail
		switch {
		case line >= to:
			here -= len(now.Lines) - len(old.Lines)
		case line >= from:
			return Start(h.OldStart, h.OldLines) + old.Before
		}
	}
	return max(here, 0)
}
