package helix

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Defaults are the languages that a Helix knows without any configuration. They differ between builds, even of the same
// version, and a user's list of servers for a language replaces the default one. So they are read from each Helix's program,
// which contains its own languages.toml as text.
type Defaults struct {
	Languages []Language
}

// A Language is one of Helix's languages.
type Language struct {
	Name    string
	Servers []string // in TOML: names in quotes, or inline tables
}

// ErrNoDefaults says that a file holds no list of languages.
var ErrNoDefaults = errors.New("no list of languages was found")

// bundled has the members of Helix's own languages.toml that are used. A language names a server by a string, or by a table
// with a name and features.
type bundled struct {
	Servers  map[string]struct{ Command string } `toml:"language-server"`
	Language []struct {
		Name    string
		Servers []any `toml:"language-servers"`
	}
}

// ReadDefaults finds the defaults in Helix's program, or in the languages.toml of its sources.
func ReadDefaults(program []byte) (*Defaults, error) {
	header := []byte("[language-server]")
	for at := 0; ; {
		n := bytes.Index(program[at:], header)
		if n < 0 {
			return nil, ErrNoDefaults
		}
		at += n
		if at == 0 || program[at-1] == '\n' {
			if d := defaultsAt(program[at:]); d != nil {
				return d, nil
			}
		}
		at += len(header)
	}
}

// defaultsAt reads the list at the beginning of a text, whatever follows it. It returns nil if there is none.
func defaultsAt(text []byte) *Defaults {
	const most = 4 << 20
	text = text[:min(len(text), most)]
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			text = text[:at]
			break
		}
		at += size
	}
	found, _ := parse(string(text)) // the error is at the end of the list
	end := 0
	for _, t := range found.tables {
		end = max(end, t.end)
		if n := len(t.pairs); n > 0 {
			end = max(end, t.pairs[n-1].end)
		}
	}
	var b bundled
	if _, err := toml.Decode(string(text[:end]), &b); err != nil || len(b.Language) == 0 {
		return nil
	}
	d := &Defaults{}
	for _, l := range b.Language {
		lang := Language{Name: l.Name}
		for _, s := range l.Servers {
			_, text := server(s)
			lang.Servers = append(lang.Servers, text)
		}
		d.Languages = append(d.Languages, lang)
	}
	return d
}

// server returns the name of a server in a list, and the entry as TOML.
func server(entry any) (name, text string) {
	switch s := entry.(type) {
	case string:
		return s, quote(s)
	case map[string]any:
		name, _ = s["name"].(string)
		text = "{ name = " + quote(name)
		for _, features := range []string{"only-features", "except-features"} {
			if list, ok := s[features].([]any); ok {
				text += ", " + features + " = " + quoteAll(list)
			}
		}
		return name, text + " }"
	}
	return "", ""
}

func quoteAll(list []any) string {
	var b bytes.Buffer
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(fmt.Sprint(v)))
	}
	return "[" + b.String() + "]"
}

// find returns a language by its name, or nil.
func (d *Defaults) find(name string) *Language {
	i := slices.IndexFunc(d.Languages, func(l Language) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Languages[i]
}
