// Package typedefs makes types for other languages from rpc/schema.json. It supports only what that schema uses.
package typedefs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A schema is a part of a JSON Schema, with the keywords that ours uses.
type schema struct {
	Title, Description, Type string
	Ref                      string `json:"$ref"`
	Enum                     []any
	Items                    *schema
	AllOf, AnyOf, OneOf      []*schema
	Properties               members
	Required                 []string
	AdditionalProperties     json.RawMessage
	Defs                     map[string]*schema `json:"$defs"`
}

// members are an object's members in the schema's order.
type members []member

type member struct {
	name string
	*schema
}

func (m *members) UnmarshalJSON(raw []byte) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		one := member{name: fmt.Sprint(name), schema: new(schema)}
		if err := in.Decode(one.schema); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

// named returns the name of the type to which s refers; "" if s is no reference. A reference with a description is in an
// allOf.
func (s *schema) named() string {
	if len(s.AllOf) == 1 {
		s = s.AllOf[0]
	}
	return strings.TrimPrefix(s.Ref, "#/$defs/")
}

// choices returns the alternatives of a union; none if s is no union.
func (s *schema) choices() []*schema { return append(slices.Clone(s.AnyOf), s.OneOf...) }

// values returns the schema of a map's values; nil if s is no map.
func (s *schema) values() *schema {
	var of schema
	if len(s.Properties) > 0 || len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' || json.Unmarshal(s.AdditionalProperties, &of) != nil {
		return nil
	}
	return &of
}

// A language says how to write types.
type language struct {
	head    string
	words   map[string]string // the words for null, string, boolean, integer and number
	quote   func(text string) string
	literal func(values []string) string // a union of literal values
	list    func(of string) string
	dict    func(of string) string
	either  func(types []string) string
	ref     func(name string) string
	object  func(b *strings.Builder, name string, s *schema, l *language)
	alias   func(b *strings.Builder, name, description, typ string)
}

// expression returns the type of s.
func (l *language) expression(s *schema) string {
	if name := s.named(); name != "" {
		return l.ref(name)
	}
	if choices := s.choices(); len(choices) > 0 {
		var types []string
		for _, one := range choices {
			types = append(types, l.expression(one))
		}
		return l.either(types)
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, value := range s.Enum {
			text := fmt.Sprint(value)
			if word, ok := value.(string); ok {
				text = l.quote(word)
			} else if truth, ok := value.(bool); ok {
				text = l.words[fmt.Sprint(truth)]
			}
			values = append(values, text)
		}
		return l.literal(values)
	}
	switch s.Type {
	case "array":
		return l.list(l.expression(s.Items))
	case "object":
		if of := s.values(); of != nil {
			return l.dict(l.expression(of))
		}
		return l.dict(l.words["any"])
	}
	return l.words[s.Type]
}

// generate writes all types of a schema, sorted by name, and the root's type last.
func (l *language) generate(raw []byte) (string, error) {
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(l.head)
	types := maps.Clone(root.Defs)
	for _, name := range append(slices.Sorted(maps.Keys(types)), root.Title) {
		s := types[name]
		if s == nil {
			s = &root
		}
		if len(s.Properties) > 0 {
			l.object(&b, name, s, l)
		} else {
			l.alias(&b, name, s.Description, l.expression(s))
		}
	}
	return b.String(), nil
}

// identifier matches names that all languages accept unquoted.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })

func optional(s *schema, m member) bool { return !slices.Contains(s.Required, m.name) }

func quoted(text string) string { return fmt.Sprintf("%q", text) }
