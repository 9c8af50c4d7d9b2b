package zed

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A value is the place of a JSON value in a text with comments and perhaps trailing commas.
type value struct {
	kind       byte // its first character
	start, end int
	members    []member // of an object
}

type member struct {
	name  string
	start int // of its name
	value *value
}

func (v *value) text(text string) string { return text[v.start:v.end] }

// member returns the last member with a name, which is the one that counts; nil if there is none, or v is nil.
func (v *value) member(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// insert returns the text with a first member of the object v, on a line of its own.
func (v *value) insert(text, added, indent string) string {
	eol := "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	rest := text[v.start+1:]
	if len(v.members) > 0 {
		added += ","
	}
	if !strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\n") && !strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\r\n") {
		rest = eol + indent[2:] + strings.TrimLeft(rest, " \t")
	}
	return text[:v.start+1] + eol + indent + added + rest
}

// remove returns the text without the members of that name, and without their lines if nothing else is on these.
func (v *value) remove(text, name string) string {
	for i := len(v.members) - 1; i >= 0; i-- {
		m := v.members[i]
		if m.name != name {
			continue
		}
		start, end := m.start, m.value.end
		if comma := skip(text, end); comma < v.end && text[comma] == ',' {
			end = comma + 1
		} else if i > 0 { // the last one: the comma in front of it goes
			if before := v.members[i-1].value.end; strings.HasPrefix(text[skip(text, before):], ",") && strings.TrimSpace(text[skip(text, before)+1:start]) == "" {
				text = text[:skip(text, before)] + text[skip(text, before)+1:]
				start, end = start-1, end-1
			}
		}
		line := strings.LastIndexByte(text[:start], '\n') + 1
		if rest := strings.TrimLeft(text[end:], " \t\r"); strings.TrimSpace(text[line:start]) == "" && line > 0 && strings.HasPrefix(rest, "\n") {
			start, end = line, len(text)-len(rest)+1
		}
		text = text[:start] + text[end:]
	}
	return text
}

// parse returns the object that a text is.
func parse(text string) (*value, error) {
	p := &parser{text: text}
	v, err := p.value(skip(text, len(text)-len(strings.TrimPrefix(text, "\ufeff"))), 0)
	switch {
	case err != nil:
		return nil, err
	case v.kind != '{':
		return nil, p.wrong(v.start, "is no object")
	case skip(text, v.end) < len(text):
		return nil, p.wrong(skip(text, v.end), "has more behind its end")
	}
	return v, nil
}

type parser struct{ text string }

func (p *parser) wrong(at int, what string) error {
	return fmt.Errorf("line %d of the settings %s", strings.Count(p.text[:min(at, len(p.text))], "\n")+1, what)
}

const maxDepth = 200

func (p *parser) value(at, depth int) (*value, error) {
	if at >= len(p.text) || depth > maxDepth {
		return nil, p.wrong(at, "is not to be understood")
	}
	v := &value{kind: p.text[at], start: at}
	switch v.kind {
	case '{', '[':
		return v, p.inside(v, depth)
	case '"':
		v.end = stringEnd(p.text, at)
	default:
		for v.end = at; v.end < len(p.text) && !strings.ContainsRune(" \t\r\n,]}/", rune(p.text[v.end])); v.end++ {
		}
	}
	if v.end == at || v.end > len(p.text) || !json.Valid([]byte(p.text[at:v.end])) {
		return nil, p.wrong(at, "is not to be understood")
	}
	return v, nil
}

// inside reads the members or elements of v.
func (p *parser) inside(v *value, depth int) error {
	closing := byte('}')
	if v.kind == '[' {
		closing = ']'
	}
	at := skip(p.text, v.start+1)
	for at < len(p.text) && p.text[at] != closing {
		m := member{start: at}
		if v.kind == '{' {
			end := stringEnd(p.text, at)
			if p.text[at] != '"' || end > len(p.text) || json.Unmarshal([]byte(p.text[at:end]), &m.name) != nil {
				return p.wrong(at, "has no name where one should be")
			}
			if at = skip(p.text, end); at >= len(p.text) || p.text[at] != ':' {
				return p.wrong(at, "has no colon where one should be")
			}
			at = skip(p.text, at+1)
		}
		inner, err := p.value(at, depth+1)
		if err != nil {
			return err
		}
		m.value = inner
		v.members = append(v.members, m)
		at = skip(p.text, inner.end)
		if at < len(p.text) && p.text[at] == ',' {
			at = skip(p.text, at+1)
		} else if at < len(p.text) && p.text[at] != closing {
			return p.wrong(at, "has no comma where one should be")
		}
	}
	if at >= len(p.text) {
		return p.wrong(at, "ends too early")
	}
	v.end = at + 1
	return nil
}

// stringEnd returns the place behind the string that begins at at; behind the text, if it does not end.
func stringEnd(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text) + 1
}

// skip returns the place of what is no white space and no comment.
func skip(text string, at int) int {
	for at < len(text) {
		switch rest := text[at:]; {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			at++
		case strings.HasPrefix(rest, "//"):
			if at = at + strings.IndexByte(rest, '\n') + 1; !strings.Contains(rest, "\n") {
				return len(text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return len(text)
			}
			at += end + 4
		default:
			return at
		}
	}
	return at
}
