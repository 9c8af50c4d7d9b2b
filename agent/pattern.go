package agent

import (
	"bytes"

	"cursord/agent/jsontext"
)

// A pattern is the form of the last piece of text. Nearly all lines of an agent are such pieces and differ from the one
// before only in the text and in the digits of the time. Comparing a line with the pattern takes a fraction of the time that
// parsing takes.
type pattern struct {
	head    []byte // up to the text's quote
	between []byte // from behind the text to the time
	tail    []byte // from behind the time
}

// maxPattern bounds the pattern of a line, in bytes.
const maxPattern = 4 << 10

// learn takes a line that held just this text, which stands before the time. Both are given as they stand in the line.
func (p *pattern) learn(line, text, time jsontext.Value) {
	*p = pattern{head: p.head[:0], between: p.between[:0], tail: p.tail[:0]}
	from, at := cap(line)-cap(text), cap(line)-cap(time)
	to, end := from+len(text), at+len(time)
	if at < to || len(line)-len(text) > maxPattern || !isTime(time) {
		return
	}
	p.head = append(p.head, line[:from]...)
	p.between = append(p.between, line[to:at]...)
	p.tail = append(p.tail, line[end:]...)
}

// text returns the text of a line that has the pattern; false if it does not, or may not.
func (p *pattern) text(line []byte) (jsontext.Value, bool) {
	if len(p.head) == 0 || !bytes.HasPrefix(line, p.head) {
		return nil, false
	}
	from := len(p.head)
	if from >= len(line) || line[from] != '"' {
		return nil, false
	}
	to := jsontext.EndOfString(line, from)
	if to < 0 || !bytes.HasPrefix(line[to:], p.between) {
		return nil, false
	}
	rest := line[to+len(p.between):]
	time, same := bytes.CutSuffix(rest, p.tail)
	return line[from:to], same && isTime(time)
}

// isTime reports whether b is an unsigned whole number in JSON's form.
func isTime(b []byte) bool {
	return len(b) > 0 && b[0] != '0' && jsontext.EndOfDigits(b, 0) == len(b)
}
