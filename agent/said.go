package agent

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// said is all assistant text of a run, as far as comparisons still need it. A long text is cut in the middle, so that an
// agent that talks without end does not fill the memory. A cut text is compared by its length, its beginning and its end.
type said struct {
	keep   int // of each end, in bytes
	kept   []byte
	mark   int  // where in kept begins what was said since the last tool call or consolidated message
	all    int  // bytes of the whole
	marked int  // … up to the mark
	before bool // something before the mark is cut
	behind bool // something behind the mark is
}

// maxKept is what is kept of each end of a text, and of a result, in bytes. A text is cut only once it is much longer, so
// that little is copied.
const maxKept = 16 << 20

func (s *said) add(text string) {
	s.kept = append(s.kept, text...)
	s.all += len(text)
	if s.mark > 2*s.keep {
		s.kept = slices.Delete(s.kept, s.keep, s.mark)
		s.mark, s.before = s.keep, true
	}
	if len(s.kept)-s.mark > 4*s.keep {
		s.kept = slices.Delete(s.kept, s.mark+s.keep, len(s.kept)-s.keep)
		s.behind = true
	}
}

func (s *said) boundary() {
	s.mark, s.marked = len(s.kept), s.all
	s.before, s.behind = s.before || s.behind, false
}

// withdraw takes back the text since the mark.
func (s *said) withdraw() {
	s.kept, s.all, s.behind = s.kept[:s.mark], s.marked, false
	s.boundary()
}

// since is the number of bytes after the mark.
func (s *said) since() int { return s.all - s.marked }

// sinceStarts reports whether m begins with the text since the mark.
func (s *said) sinceStarts(m string) bool {
	return len(m) >= s.since() && s.begins(m, s.kept[s.mark:], s.behind)
}

// starts reports whether m begins with the whole text.
func (s *said) starts(m string) bool {
	return len(m) >= s.all && s.begins(m, s.kept, s.before || s.behind)
}

// begins reports whether m begins with what; if what is cut, only its first part is compared.
func (s *said) begins(m string, what []byte, cut bool) bool {
	if cut {
		what = what[:s.keep]
	}
	return len(m) >= len(what) && m[:len(what)] == string(what)
}

// repeats reports whether the text since the mark begins or ends with m.
func (s *said) repeats(m string) bool {
	since := s.kept[s.mark:]
	if len(m) > s.since() {
		return false
	}
	head, tail := m, m
	if s.behind && len(m) > s.keep {
		head, tail = m[:s.keep], m[len(m)-s.keep:]
	}
	return bytes.HasPrefix(since, []byte(head)) || bytes.HasSuffix(since, []byte(tail))
}

// text returns the whole text, or its first part and the length of the whole.
func (s *said) text() string {
	if s.all <= maxKept {
		return string(s.kept)
	}
	return cutResult(string(s.kept[:maxKept]), s.all)
}

// cutResult returns the first part of a result that is too long. all is the length of the whole.
func cutResult(text string, all int) string {
	if all <= maxKept {
		return text
	}
	text = text[:maxKept]
	for range utf8.UTFMax - 1 { // it may end in a part of a character
		if r, n := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || n != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return fmt.Sprintf("%s…(%d bytes)", text, all)
}
