package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
)

// A screen prints lines of the log: formatted for people, or unchanged if raw is set.
type screen struct {
	w       io.Writer
	raw     bool
	palette term.Palette
	err     error // the first error of writing to w
}

func newScreen(w io.Writer, raw bool) *screen {
	return &screen{w: w, raw: raw, palette: term.PaletteOf(w)}
}

func (s *screen) line(line []byte) {
	if s.err != nil {
		return
	}
	text := string(line)
	if s.raw && json.Valid(line) {
		text = string(term.PlainJSON(line))
	} else if !s.raw {
		text = s.readable(bytes.TrimRight(line, "\r\n")) + "\n"
	}
	_, s.err = io.WriteString(s.w, text)
}

// readable formats a line of JSON for people. Other lines, such as a crash's, keep their text.
func (s *screen) readable(line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return term.Clean(string(line))
	}
	var when, level, msg string
	var rest []string
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return term.Clean(string(line))
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		switch key {
		case "time":
			when = text
			if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
				when = t.Local().Format("2006-01-02 15:04:05.000")
			}
		case "level":
			level = text
		case "msg":
			msg = text
		default:
			if text == "" || strings.ContainsAny(text, " \n\"=") {
				text = fmt.Sprintf("%q", text)
			}
			rest = append(rest, fmt.Sprint(key, "=", text))
		}
	}
	name := fmt.Sprintf("%-5s", level)
	switch level {
	case "ERROR":
		name = s.palette.Red(name)
	case "WARN":
		name = s.palette.Yellow(name)
	}
	out := s.palette.Dim(term.Clean(when)) + " " + name + " " + term.Clean(msg)
	if len(rest) > 0 {
		out += " " + s.palette.Dim(term.Clean(strings.Join(rest, " ")))
	}
	return out
}
