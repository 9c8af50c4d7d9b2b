package copytree

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"cursord/agent/jsontext"
)

// A Translator replaces one path by another wherever a text names it: as it is, with its symbolic links resolved, and as a
// URI or in one. Only whole path components match: /x/ws is not named by /x/ws2, /x/ws.bak or /y/x/ws, but by /x/ws/a,
// "/x/ws" and -I/x/ws. Letters beyond ASCII count as prose.
type Translator struct {
	forms []form // the longest first
	first string // the first bytes of the forms
	from  []string
	to    string
}

type form struct{ from, to string }

// NewTranslator returns a translator from one path to another. It also matches the path with its links resolved, if the path
// exists, and the aliases, which are further names of it.
func NewTranslator(from, to string, aliases ...string) *Translator {
	t := &Translator{from: append([]string{from}, aliases...), to: to}
	names := slices.Clone(t.from)
	for _, name := range t.from {
		if resolved, err := filepath.EvalSymlinks(name); err == nil {
			names = append(names, resolved)
		}
	}
	for _, name := range names {
		t.add(name, to)
		if slashed := filepath.ToSlash(name); slashed != name {
			t.add(slashed, filepath.ToSlash(to))
		}
		for _, encode := range []func(string) string{encodePath, encodeStrictly} {
			t.add("file://"+encode(name), "file://"+encode(to))
			t.add(encode(name), encode(to))
		}
	}
	slices.SortStableFunc(t.forms, func(a, b form) int { return len(b.from) - len(a.from) })
	for _, f := range t.forms {
		if !strings.Contains(t.first, f.from[:1]) {
			t.first += f.from[:1]
		}
	}
	return t
}

// add adds a form unless it is there already: the first one counts.
func (t *Translator) add(from, to string) {
	if from != "" && !slices.ContainsFunc(t.forms, func(f form) bool { return f.from == from }) {
		t.forms = append(t.forms, form{from, to})
	}
}

// Back returns the translator for the other direction.
func (t *Translator) Back() *Translator { return NewTranslator(t.to, t.from[0]) }

// encodePath encodes a path as most URIs have it.
func encodePath(p string) string {
	p = filepath.ToSlash(p)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a Windows drive
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// encodeStrictly encodes everything but letters, digits and "-._~/", as some editors do.
func encodeStrictly(p string) string {
	var b strings.Builder
	for _, c := range []byte(filepath.ToSlash(p)) {
		if isLetter(c) || strings.IndexByte("0123456789-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	if s := b.String(); strings.HasPrefix(s, "/") {
		return s
	}
	return "/" + b.String()
}

// String translates a text.
func (t *Translator) String(s string) string {
	if !t.mayName(s) {
		return s
	}
	stream := Stream{t: t}
	return stream.Write(s) + stream.Flush()
}

func (t *Translator) mayName(s string) bool {
	return slices.ContainsFunc(t.forms, func(f form) bool { return strings.Contains(s, f.from) })
}

// JSON translates the strings of a JSON value, also its keys. Everything else stays the same byte for byte.
func (t *Translator) JSON(raw json.RawMessage) json.RawMessage {
	var out []byte
	done := 0
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			i++
			continue
		}
		end := jsontext.StringEnd(raw, i)
		if end < 0 {
			break
		}
		var s string
		if json.Unmarshal(raw[i:end], &s) == nil {
			if changed := t.String(s); changed != s {
				out = append(out, raw[done:i]...)
				out = jsontext.AppendQuoted(out, changed)
				done = end
			}
		}
		i = end
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}
