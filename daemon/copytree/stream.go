package copytree

import "strings"

// A Stream translates a text that comes in pieces, cut anywhere. What its calls return, put together, is what
// Translator.String makes of the whole; what may become a path is held back, which is never more than a path's length
// and a few bytes.
type Stream struct {
	t    *Translator
	held string
	tail string // the last bytes before held
}

// Stream returns a new stream.
func (t *Translator) Stream() *Stream { return &Stream{t: t} }

// Write takes the next piece and returns what can be translated by now.
func (s *Stream) Write(piece string) string { return s.advance(s.held+piece, false) }

// Flush returns what was held back: the text ends here.
func (s *Stream) Flush() string {
	out := s.advance(s.held, true)
	s.tail = ""
	return out
}

func (s *Stream) advance(text string, end bool) string {
	s.held = ""
	var out strings.Builder
	copied := 0 // up to where text is in out
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

// before is how many bytes before a path say whether it is one.
const before = 2

func lastBytes(s string) string { return s[max(0, len(s)-before):] }

type verdict int

const (
	no verdict = iota
	yes
	later // what follows decides
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

// mayBegin reports whether a path may begin after these bytes, and is not the rest of a longer one: it may not after
// the characters of names, unless they are an option as in -I/x or an escape as in \n/x.
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

// dots is how many dots after a path are taken for an ellipsis, whatever comes.
const dots = 4

// ends says whether a path has ended before rest: at a separator, or where no name goes on. Dots belong to the path if
// a name goes on behind them.
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
