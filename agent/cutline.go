package agent

import (
	"bytes"

	"cursord/agent/jsontext"
)

// Some builds write a newline inside of a string unescaped, so one event comes in several lines. A line that ends inside of
// a string is held, and joined with the lines after it once they are one event together.
const (
	maxCutBytes = 8 << 20
	maxCutLines = 10_000
	maxCutTries = 8 // how often the joined text is parsed; each time costs its length
)

// A cutLine holds the lines of an event that is not complete yet.
type cutLine struct {
	text  []byte // with their newlines
	lines int    // 0: none is held
	tries int
}

// beginsEvent reports whether a line begins with an object that has a member. A line from inside of a string does not,
// because its quotes would be escaped.
func beginsEvent(line []byte) bool {
	i := jsontext.SkipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	if i = jsontext.SkipSpace(line, i+1); i >= len(line) || line[i] != '"' {
		return false
	}
	end := jsontext.EndOfString(line, i)
	if end < 0 {
		return false
	}
	end = jsontext.SkipSpace(line, end)
	return end < len(line) && line[end] == ':'
}

// endsInString reports whether a text that begins outside of strings ends inside of one, but not in the middle of an escape.
func endsInString(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return false
		}
		n, closed := stringContent(text[i+1:])
		if !closed {
			return n >= 0
		}
		text = text[i+1+n+1:]
	}
}

// stringContent returns the length of the rest of the string in which b begins, and whether the string ends in b. The length
// is -1 if b ends in the middle of an escape.
func stringContent(b []byte) (n int, closed bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i, true
		case '\\':
			if i++; i == len(b) {
				return -1, false
			}
		}
	}
	return len(b), false
}

// hold keeps a line that is no JSON, unchanged, if the next line may continue it. It returns false if no line can.
func (d *Decoder) hold(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) > maxCutBytes || !beginsEvent(line) || !endsInString(line) {
		return false
	}
	d.cut = cutLine{text: append(append(d.cut.text[:0], line...), '\n'), lines: 1}
	return true
}

// goOn takes the next line while others are held. It returns false if the line does not continue them; they are then no
// longer held.
func (d *Decoder) goOn(dst []Event, line []byte) ([]Event, bool) {
	c := &d.cut
	line = bytes.TrimSuffix(line, []byte("\n"))
	if beginsEvent(trimStreamName(line)) {
		return d.Rest(dst), false
	}
	if c.lines++; c.lines > maxCutLines || len(c.text)+len(line) > maxCutBytes {
		return d.Rest(dst), false
	}
	c.text = append(append(c.text, line...), '\n')
	n, closed := stringContent(line)
	if !closed {
		if n < 0 { // an escape of something else than a newline
			return d.Rest(dst), true
		}
		return dst, true
	}
	if last := bytes.TrimSpace(line); last[len(last)-1] != '}' {
		return dst, true
	}
	whole := escapeControls(c.text)
	if end := jsontext.End(whole, 0); end == len(whole) {
		d.cut = cutLine{}
		return d.event(dst, whole), true
	}
	if c.tries++; c.tries == maxCutTries {
		return d.Rest(dst), true
	}
	return dst, true
}

// escapeControls returns a text with the line ends and tabs inside of its strings escaped, and without space at its end.
func escapeControls(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/16)
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
			out = append(out, c)
		case c == '\\' && quoted && i+1 < len(text):
			out = append(out, c, text[i+1])
			i++
		case c == '\n' && quoted:
			out = append(out, '\\', 'n')
		case c == '\r' && quoted:
			out = append(out, '\\', 'r')
		case c == '\t' && quoted:
			out = append(out, '\\', 't')
		default:
			out = append(out, c)
		}
	}
	return bytes.TrimSpace(out)
}

// Rest returns the events of the lines that are still held, each decoded by itself, and holds them no longer. Call it when
// no line follows.
func (d *Decoder) Rest(dst []Event) []Event {
	text := d.cut.text
	if d.cut.lines == 0 {
		return dst
	}
	d.cut = cutLine{}
	for line := range bytes.Lines(text) {
		dst = d.line(dst, line, false)
	}
	return dst
}
