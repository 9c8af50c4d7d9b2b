package agent

import (
	"bytes"
	"fmt"
	"strings"

	"cursord/agent/failure"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// maxUnreadable is what is kept of a line that is no JSON, in bytes.
const maxUnreadable = 4 << 10

// Line decodes one line of the agent's stdout, with or without its newline. The events do not alias the line. Every line is
// acceptable. A line that ends inside of a string may be held until the next one shows whether it continues it; see Rest.
func (d *Decoder) Line(line []byte) []Event { return d.AppendLine(nil, line) }

// AppendLine is Line, but appends to dst.
func (d *Decoder) AppendLine(dst []Event, line []byte) []Event {
	if d.cut.lines > 0 {
		var taken bool
		if dst, taken = d.goOn(dst, line); taken {
			return dst
		}
	}
	return d.line(dst, line, true)
}

// line decodes a line by itself; hold allows it to be held if it is cut.
func (d *Decoder) line(dst []Event, whole []byte, hold bool) []Event {
	line := bytes.TrimSpace(bytes.TrimPrefix(whole, []byte("\uFEFF")))
	line = trimStreamName(line)
	if len(line) == 0 {
		return dst
	}
	if text, ok := d.last.text(line); ok {
		d.final, d.afterFinal = false, false
		return d.tellStage(d.piece(dst, text, true))
	}
	for len(line) > 0 {
		end := -1
		if line[0] == '{' {
			end = jsontext.End(line, 0)
		}
		if end < 0 {
			if hold && d.hold(whole[cap(whole)-cap(line):]) {
				return dst
			}
			return d.unreadable(dst, string(line))
		}
		dst = d.event(dst, line[:end])
		line = bytes.TrimSpace(line[end:])
	}
	return dst
}

// trimStreamName takes off the "stdout:" or "stderr:" that some launchers put in front of an object.
func trimStreamName(line []byte) []byte {
	rest, ok := bytes.CutPrefix(line, []byte("stdout"))
	if !ok {
		if rest, ok = bytes.CutPrefix(line, []byte("stderr")); !ok {
			return line
		}
	}
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) > 0 && (rest[0] == ':' || rest[0] == '=') {
		rest = bytes.TrimLeft(rest[1:], " \t")
	}
	if len(rest) == 0 || rest[0] != '{' {
		return line
	}
	return rest
}

func (d *Decoder) unreadable(dst []Event, line string) []Event {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if len(line) > maxUnreadable {
		line = fmt.Sprintf("%s…(%d bytes)", plaintext.Cut(line, maxUnreadable), len(line))
	}
	dst = append(dst, Unreadable{Line: line})
	if _, known := failure.Classify(line, d.heard); known {
		dst = append(dst, Failure{Message: line})
	}
	return dst
}
