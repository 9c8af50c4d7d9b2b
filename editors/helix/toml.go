package helix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A document is the text of a TOML file with the places of its parts. All edits are edits of the text, so everything else
// stays byte for byte. The TOML library checks the text; this only finds places.
type document struct {
	text   string
	tables []table // the first one is the part before any header
}

// A table is a header and the pairs below it.
type table struct {
	path       []string // of [[language]] with a name: "language" and that name
	array      bool     // its header is in double brackets
	start, end int      // the header's lines; both 0 for the part before any header
	pairs      []pair
}

// A pair is a key with its value.
type pair struct {
	key        []string
	start, end int // of its lines, with the newline; in an inline table from key to value
	keyAt      int
	value      value
}

func (p *pair) path(t *table) []string { return slices.Concat(t.path, p.key) }

// A value is an array, an inline table or a value without parts.
type value struct {
	kind       byte // '[', '{' or 0
	start, end int
	items      []value // of an array
	pairs      []pair  // of an inline table
}

// An ownLanguage is the file's table of a language: a table of its own, or an inline table in a list.
type ownLanguage struct {
	name   string
	table  *table
	inline *value
	pairs  []pair
}

// inlineLanguages returns the list of inline tables with the languages; nil if they are tables of their own, or there are
// none.
func (d *document) inlineLanguages() *value {
	for i := range d.tables[0].pairs {
		if p := &d.tables[0].pairs[i]; slices.Equal(p.key, []string{"language"}) && p.value.kind == '[' {
			return &p.value
		}
	}
	return nil
}

// ownLanguages returns the file's tables of languages.
func (d *document) ownLanguages() (all []ownLanguage) {
	for i := range d.tables {
		if t := &d.tables[i]; t.array && len(t.path) == 2 && t.path[0] == "language" {
			all = append(all, ownLanguage{name: t.path[1], table: t, pairs: t.pairs})
		}
	}
	if list := d.inlineLanguages(); list != nil {
		for i := range list.items {
			one := ownLanguage{table: &d.tables[0], inline: &list.items[i], pairs: list.items[i].pairs}
			for _, p := range one.pairs {
				if slices.Equal(p.key, []string{"name"}) {
					one.name = d.str(p.value)
				}
			}
			if one.name != "" {
				all = append(all, one)
			}
		}
	}
	return all
}

// parse finds the parts of a text. If the text is not TOML to its end, it also returns the parts before the error.
func parse(text string) (*document, error) {
	d := &document{text: text, tables: []table{{}}}
	return d, d.read(0)
}

// parseAgain finds the parts of a text that equals this document's up to a place.
func (d *document) parseAgain(text string, upTo int) (*document, error) {
	i := len(d.tables) - 1
	for i > 0 && d.tables[i].start > upTo {
		i--
	}
	if i == 0 {
		return parse(text)
	}
	again := &document{text: text, tables: slices.Clone(d.tables[:i])}
	return again, again.read(d.tables[i].start)
}

// read finds the parts behind the known tables.
func (d *document) read(from int) error {
	s, text := &scanner{text: d.text, at: from}, d.text
	if from == 0 {
		s.at = len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	}
	for {
		s.blank(true)
		if s.at == len(text) {
			break
		}
		line := strings.LastIndexByte(text[:s.at], '\n') + 1
		last := &d.tables[len(d.tables)-1]
		if text[s.at] == '[' {
			t, err := s.header()
			if err != nil {
				return err
			}
			t.start, t.end = line, s.at
			d.tables = append(d.tables, t)
			continue
		}
		p, err := s.pair()
		if err == nil {
			err = s.endLine()
		}
		if err != nil {
			return err
		}
		p.start, p.end = line, s.at
		last.pairs = append(last.pairs, p)
		if last.array && len(last.path) == 1 && slices.Equal(p.key, []string{"name"}) {
			last.path = []string{last.path[0], d.str(p.value)}
		}
	}
	return nil
}

// raw returns the text of a value.
func (d *document) raw(v value) string { return d.text[v.start:v.end] }

// str returns the content of a value that is a string, else "".
func (d *document) str(v value) string {
	s, _ := unquote(d.raw(v))
	return s
}

func unquote(raw string) (string, bool) {
	if n := len(raw); n > 2 && raw[0] == raw[n-1] && raw[0] == '"' && !strings.ContainsAny(raw[1:n-1], "\"\\\n") {
		return raw[1 : n-1], true // most strings are like this
	}
	var decoded struct{ V any }
	if _, err := toml.Decode("V = "+raw, &decoded); err != nil {
		return "", false
	}
	s, ok := decoded.V.(string)
	return s, ok
}

// A scanner reads a text.
type scanner struct {
	text string
	at   int
}

func (s *scanner) errorf(format string, args ...any) error {
	line := strings.Count(s.text[:s.at], "\n") + 1
	return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// blank skips blanks and, with lines, also newlines and comments.
func (s *scanner) blank(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t':
			s.at++
		case lines && (c == '\n' || c == '\r'):
			s.at++
		case lines && c == '#':
			s.comment()
		default:
			return
		}
	}
}

func (s *scanner) comment() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
}

// endLine skips the rest of a line, which may only be a comment.
func (s *scanner) endLine() error {
	s.blank(false)
	if s.peek() == '#' {
		s.comment()
	}
	if s.peek() == '\r' {
		s.at++
	}
	switch {
	case s.at == len(s.text):
	case s.text[s.at] == '\n':
		s.at++
	default:
		return s.errorf("something stands behind a value")
	}
	return nil
}

func (s *scanner) header() (t table, err error) {
	close := "]"
	if strings.HasPrefix(s.text[s.at:], "[[") {
		t.array, close = true, "]]"
	}
	s.at += len(close)
	if t.path, err = s.key(); err != nil {
		return t, err
	}
	if !strings.HasPrefix(s.text[s.at:], close) {
		return t, s.errorf("a header does not end")
	}
	s.at += len(close)
	return t, s.endLine()
}

// key reads a key, which may have dots, and the blanks behind it.
func (s *scanner) key() (path []string, err error) {
	for {
		s.blank(false)
		start := s.at
		switch s.peek() {
		case '"', '\'':
			if err := s.quoted(); err != nil {
				return nil, err
			}
			part, ok := unquote(s.text[start:s.at])
			if !ok {
				return nil, s.errorf("a key is not a string")
			}
			path = append(path, part)
		default:
			for s.at < len(s.text) && bare(s.text[s.at]) {
				s.at++
			}
			if s.at == start {
				return nil, s.errorf("there is no key")
			}
			path = append(path, s.text[start:s.at])
		}
		s.blank(false)
		if s.peek() != '.' {
			return path, nil
		}
		s.at++
	}
}

func bare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func (s *scanner) pair() (p pair, err error) {
	p.start, p.keyAt = s.at, s.at
	if p.key, err = s.key(); err != nil {
		return p, err
	}
	if s.peek() != '=' {
		return p, s.errorf("a key has no value")
	}
	s.at++
	s.blank(false)
	p.value, err = s.value()
	p.end = s.at
	return p, err
}

func (s *scanner) value() (v value, err error) {
	v.start = s.at
	switch c := s.peek(); c {
	case '"', '\'':
		err = s.quoted()
	case '[', '{':
		v.kind = c
		err = s.parts(&v)
	default:
		if n := strings.IndexAny(s.text[s.at:], ",]}#\r\n"); n >= 0 {
			s.at += n
		} else {
			s.at = len(s.text)
		}
		for s.at > v.start && (s.text[s.at-1] == ' ' || s.text[s.at-1] == '\t') {
			s.at--
		}
		if s.at == v.start {
			err = s.errorf("there is no value")
		}
	}
	v.end = s.at
	return v, err
}

// parts reads an array or an inline table.
func (s *scanner) parts(v *value) error {
	close := byte(']')
	if v.kind == '{' {
		close = '}'
	}
	s.at++
	for {
		s.blank(true)
		if s.peek() == close {
			s.at++
			return nil
		}
		if v.kind == '{' {
			p, err := s.pair()
			if err != nil {
				return err
			}
			v.pairs = append(v.pairs, p)
		} else {
			item, err := s.value()
			if err != nil {
				return err
			}
			v.items = append(v.items, item)
		}
		s.blank(true)
		switch s.peek() {
		case ',':
			s.at++
		case close:
		default:
			return s.errorf("%q is missing", close)
		}
	}
}

// quoted skips a string of any of the four kinds.
func (s *scanner) quoted() error {
	quote := s.text[s.at : s.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], triple) {
		quote = triple
	}
	s.at += len(quote)
	for s.at < len(s.text) {
		switch {
		case quote[0] == '"' && s.text[s.at] == '\\':
			s.at += 2
			continue
		case len(quote) == 1 && s.text[s.at] == '\n':
			return s.errorf("a string does not end")
		case strings.HasPrefix(s.text[s.at:], quote):
			s.at += len(quote)
			for len(quote) == 3 && s.peek() == quote[0] { // """ends in quotes"""""
				s.at++
			}
			return nil
		}
		s.at++
	}
	s.at = len(s.text)
	return s.errorf("a string does not end")
}
