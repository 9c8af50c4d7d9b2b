package helix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A piece is a part that was put into a file, with what is needed to take it out again.
type piece struct {
	What string   `json:"what"` // "table", "pair", "item" or "element", an inline table in the list of languages
	Path []string `json:"path"` // of an item, the path of its list
	Text string   `json:"text"` // of a table with its first pairs, of a value, or of an item
	Lead string   `json:"lead,omitempty"`
}

// An editing is a file that is being changed, with the pieces that were put into it.
type editing struct {
	*document
	eol    string
	pieces []piece
}

func edit(text string) (*editing, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	e := &editing{document: d, eol: "\n"}
	if strings.Contains(text, "\r\n") {
		e.eol = "\r\n"
	}
	return e, nil
}

// replace replaces a part of the text.
func (e *editing) replace(start, end int, now string) error {
	d, err := e.parseAgain(e.text[:start]+now+e.text[end:], start)
	if err == nil {
		e.document = d
	}
	return err
}

// lines gives text this file's line ends.
func (e *editing) lines(text string) string { return strings.ReplaceAll(text, "\n", e.eol) }

// A spot is the place of a value, or the place where it can be put.
type spot struct {
	table   *table
	pair    *pair  // the pair with the path; without one, the nearest relative among dotted keys
	inline  *value // the inline table that has the pair, or can get it
	rest    []string
	exists  bool
	blocked bool // the path leads through something that is not a table, or to a table
}

// find finds the place of a value, in whatever form its tables are written.
func (d *document) find(path []string) (s spot) {
	for i := range d.tables {
		t := &d.tables[i]
		if t.array != (len(path) > 1 && path[0] == "language") {
			continue
		}
		if hasPrefix(t.path, path) {
			return spot{table: t, blocked: true}
		}
		if !hasPrefix(path, t.path) {
			continue
		}
		if s.table == nil || len(t.path) > len(s.table.path) {
			// A dotted key with a deeper path stays the nearest one.
			if s.pair == nil || shared(path, s.pair.path(s.table)) <= len(t.path) {
				s = spot{table: t, rest: path[len(t.path):]}
			}
		}
		for j := range t.pairs {
			p := &t.pairs[j]
			full := p.path(t)
			switch {
			case slices.Equal(full, path):
				return spot{table: t, pair: p, exists: true}
			case hasPrefix(full, path):
				return spot{table: t, pair: p, blocked: true}
			case hasPrefix(path, full):
				return findInline(t, p, path[len(full):])
			case shared(path, full) > len(t.path) && (s.pair == nil || shared(path, full) >= shared(path, s.pair.path(s.table))):
				s = spot{table: t, pair: p, rest: path[len(t.path):]}
			}
		}
	}
	return s
}

func findInline(t *table, p *pair, rest []string) spot {
	if p.value.kind != '{' {
		return spot{table: t, pair: p, blocked: true}
	}
	for i := range p.value.pairs {
		q := &p.value.pairs[i]
		switch {
		case slices.Equal(q.key, rest):
			return spot{table: t, pair: q, inline: &p.value, exists: true}
		case hasPrefix(q.key, rest):
			return spot{table: t, pair: q, blocked: true}
		case hasPrefix(rest, q.key):
			return findInline(t, q, rest[len(q.key):])
		}
	}
	return spot{table: t, inline: &p.value, rest: rest}
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// shared returns the number of parts with which two paths begin alike.
func shared(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// set puts a value where there is none. A value that is there stays; set then returns false, unless it is the same value.
func (e *editing) set(path []string, value string) (done bool, err error) {
	s := e.find(path)
	switch {
	case s.exists:
		return same(e.raw(s.pair.value), value), nil
	case s.blocked:
		return false, nil
	case s.inline != nil:
		text := dotted(s.rest) + " = " + value
		at := s.inline.start + 1
		if n := len(s.inline.pairs); n > 0 {
			at, text = s.inline.pairs[n-1].end, ", "+text
		} else {
			text = " " + text + " "
		}
		err = e.replace(at, at, text)
	case s.pair != nil: // beside its relatives
		err = e.addLine(s.table, s.pair, dotted(s.rest)+" = "+value)
	case s.table != nil && len(s.rest) == 1 && len(s.table.path) > 0:
		var last *pair
		if n := len(s.table.pairs); n > 0 {
			last = &s.table.pairs[n-1]
		}
		err = e.addLine(s.table, last, dotted(s.rest)+" = "+value)
	default:
		parent := path[:len(path)-1]
		if err := e.addTable(parent, "["+dotted(parent)+"]\n", ""); err != nil {
			return false, err
		}
		return e.set(path, value)
	}
	e.pieces = append(e.pieces, piece{What: "pair", Path: path, Text: value})
	return true, err
}

// addLine puts a line behind a pair of a table or, without a pair, behind the table's header.
func (e *editing) addLine(t *table, behind *pair, line string) error {
	at, indent := t.end, ""
	if behind != nil {
		at = behind.end
		indent = e.text[behind.start:behind.keyAt]
	}
	line = indent + line
	if at > 0 && e.text[at-1] != '\n' {
		return e.replace(at, at, e.eol+line)
	}
	return e.replace(at, at, line+e.eol)
}

// addTable puts a table, with comment above it, at the end of the file.
func (e *editing) addTable(path []string, text, comment string) error {
	text, lead := e.lines(text), ""
	if e.text != "" {
		lead = e.eol
		if !strings.HasSuffix(e.text, "\n") {
			lead += e.eol
		}
	}
	lead += e.lines(comment)
	e.pieces = append(e.pieces, piece{What: "table", Path: path, Text: text, Lead: lead})
	return e.replace(len(e.text), len(e.text), lead+text)
}

// addItem puts an item first into a list.
func (e *editing) addItem(path []string, list value, text string) error {
	e.pieces = append(e.pieces, piece{What: "item", Path: path, Text: text})
	return e.putFirst(list, text)
}

// addElement puts a language first into the file's list of inline tables, on a line of its own.
func (e *editing) addElement(path []string, list value, text string) error {
	e.pieces = append(e.pieces, piece{What: "element", Path: path, Text: text})
	if len(list.items) == 0 {
		return e.replace(list.start+1, list.start+1, text)
	}
	return e.replace(list.items[0].start, list.items[0].start, text+","+e.eol+"  ")
}

func (e *editing) putFirst(list value, text string) error {
	if len(list.items) == 0 {
		return e.replace(list.start+1, list.start+1, text)
	}
	first := list.items[0].start
	gap := " "
	if line := strings.LastIndexByte(e.text[:first], '\n'); line > list.start && strings.TrimLeft(e.text[line:first], " \t\n") == "" {
		gap = e.text[line:first]
		if line > 0 && e.text[line-1] == '\r' {
			gap = "\r" + gap
		}
	}
	return e.replace(first, first, text+","+gap)
}

// removeItem removes an item of a list with the comma and the blanks behind it; of the last item, those before it.
func (e *editing) removeItem(list value, i int) error {
	item := list.items[i]
	start, end := item.start, item.end
	rest := e.text[end : list.end-1]
	if i+1 < len(list.items) {
		rest = e.text[end:list.items[i+1].start]
	}
	if comma := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(comma, ",") {
		end += len(rest) - len(strings.TrimLeft(comma[1:], " \t\r\n"))
		if i+1 == len(list.items) {
			end = item.end + len(rest) - len(comma) + 1 // the text before the bracket stays
		}
	} else if i > 0 {
		start = list.items[i-1].end
	}
	return e.replace(start, end, "")
}

// removePair removes the pair of a spot, but not a user's comment behind it.
func (e *editing) removePair(s spot) error {
	p := s.pair
	if s.inline != nil {
		i := slices.IndexFunc(s.inline.pairs, func(q pair) bool { return q.keyAt == p.keyAt })
		switch start, end := p.keyAt, p.value.end; {
		case i > 0:
			return e.replace(s.inline.pairs[i-1].value.end, end, "")
		case len(s.inline.pairs) > 1:
			return e.replace(start, s.inline.pairs[1].keyAt, "")
		default:
			if e.text[start-1] == ' ' && e.text[end] == ' ' {
				start, end = start-1, end+1 // as they were added
			}
			return e.replace(start, end, "")
		}
	}
	if behind := e.text[p.value.end:p.end]; strings.Contains(behind, "#") {
		return e.replace(p.keyAt, p.value.end+strings.IndexByte(behind, '#'), "")
	}
	start := p.start
	if p.end == len(e.text) && !strings.HasSuffix(e.text, "\n") && start > 0 {
		// The line before was the file's last and had no newline until this one was added.
		start -= len("\n")
		if start > 0 && e.text[start-1] == '\r' {
			start--
		}
	}
	return e.replace(start, p.end, "")
}

// removeTable removes a table with the pairs that it had at first, if it has no others.
func (e *editing) removeTable(p piece) (done bool, err error) {
	for i, t := range e.tables {
		if i == 0 || !slices.Equal(t.path, p.Path) {
			continue
		}
		end := t.end
		if n := len(t.pairs); n > 0 {
			end = t.pairs[n-1].end
		}
		if strings.TrimRight(e.text[t.start:end], "\r\n") != strings.TrimRight(p.Text, "\r\n") {
			continue
		}
		start := t.start
		if strings.HasSuffix(e.text[:start], p.Lead) {
			start -= len(p.Lead)
			if end < len(e.text) && start > 0 && e.text[start-1] != '\n' {
				start += len(e.eol)
			}
		}
		return true, e.replace(start, end, "")
	}
	return false, nil
}

// added returns the new tables and values, one a line, for a user who adds them by hand.
func (e *editing) added() string {
	var b strings.Builder
	for _, p := range e.pieces {
		switch p.What {
		case "table":
			b.WriteString(p.Text)
		case "item":
			fmt.Fprintf(&b, "# first in the list %s\n%s\n", dotted(p.Path), p.Text)
		case "element":
			fmt.Fprintf(&b, "# in the list language\n%s\n", p.Text)
		default:
			fmt.Fprintf(&b, "%s = %s\n", dotted(p.Path[len(p.Path)-1:]), p.Text)
		}
	}
	return b.String()
}

// dotted returns a path as a TOML key.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = part
		if part == "" || strings.IndexFunc(part, func(r rune) bool { return r > 127 || !bare(byte(r)) }) >= 0 {
			parts[i] = quote(part)
		}
	}
	return strings.Join(parts, ".")
}

// same reports whether two values mean the same.
func same(a, b string) bool {
	var x, y struct{ V any }
	_, err := toml.Decode("V = "+a, &x)
	_, err2 := toml.Decode("V = "+b, &y)
	return err == nil && err2 == nil && equal(x.V, y.V)
}
