package copytree

import "strings"

// A Stream translates a text that comes in pieces, which may be cut anywhere. All results of its calls together equal
// Translator.String of the whole text. It holds back what may become a path: never more than a path's length and a few
// bytes.
type Stream struct {
	t    *Translator
	held string
	tail string // the last bytes before held
}

// Stream returns a new stream.
func (t *Translator) Stream() *Stream { return &Stream{t: t} }

// Write takes the next piece, and returns what can be translated already.
func (s *Stream) Write(piece string) string { return s.advance(s.held+piece, false) }

// Flush returns what was held back; the text ends here.
func (s *Stream) Flush() string {
	out := s.advance(s.held, true)
	s.tail = ""
	return out
}

func (s *Stream) advance(text string, end bool) string {
	s.held = ""
	var out strings.Builder
	copied := 0 // text up to here is in out
	for i := 0; ; {
		next := strings.IndexAny(text[i:], s.t.first)
		if next < 0 {
			break
		}
		i += next
		f, v := s.match(text, i, end)
		switch v {
		case yes:
			out.WriteString(text[copied:i])
			out.WriteString(f.to)
			i += len(f.from)
			copied = i
		case no:
			i++
		case later:
			out.WriteString(text[copied:i])
			s.tail = lastBytes(s.tail + text[:i])
			s.held = text[i:]
			return out.String()
		}
	}
	out.WriteString(text[copied:])
	s.tail = lastBytes(s.tail + text)
	return out.String()
}

// before is how many bytes before a path are needed to decide whether it is one.
const before = 2

func lastBytes(s string) string { return s[max(0, len(s)-before):] }

type verdict int

const (
	no verdict = iota
	yes
	later // the text that follows decides
)

// match says which form, if any, begins at i.
func (s *Stream) match(text string, i int, end bool) (form, verdict) {
	if !mayBegin(lastBytes(s.tail + text[:i])) {
		return form{}, no
	}
	for _, f := range s.t.forms {
		if rest := text[i:]; strings.HasPrefix(rest, f.from) {
			if v := ends(rest[len(f.from):], end); v != no {
				return f, v
			}
		} else if !end && strings.HasPrefix(f.from, rest) {
			return form{}, later
		}
	}
	return form{}, no
}

// mayBegin reports whether a path may begin after these bytes, or would be the rest of a longer one. It may not begin after
// a character of names, unless that belongs to an option as in -I/x or an escape as in \n/x.
func mayBegin(tail string) bool {
	if tail == "" {
		return true
	}
	c := tail[len(tail)-1]
	if isLetter(c) && len(tail) > 1 && (tail[len(tail)-2] == '-' || tail[len(tail)-2] == '\\') {
		return true
	}
	return !isLetter(c) && !isDigit(c) && strings.IndexByte("_.~/%", c) < 0
}

// dots is the number of dots after a path that count as an ellipsis, whatever follows.
const dots = 4

// ends says whether a path has ended before rest: at a separator, or where no name continues. Dots belong to the path if a
// name continues after them.
func ends(rest string, end bool) verdict {
	for n := 0; n < dots; n++ {
		if n == len(rest) {
			if end {
				return yes
			}
			return later
		}
		switch c := rest[n]; {
		case c == '.':
		case isLetter(c) || isDigit(c) || strings.IndexByte("_-+@~%", c) >= 0:
			return no
		case n > 0 && (c == '/' || c == '\\'):
			return no
		default:
			return yes
		}
	}
	return yes
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
