// Package typedefs makes types for other languages from rpc/schema.json, with no more than that schema uses.
package typedefs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A schema is a part of a JSON Schema, as far as ours goes.
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

// members are those of an object, in order.
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

// named returns the name of the type that s refers to, "" if it is another type. A description goes with a reference in an allOf.
func (s *schema) named() string {
	if len(s.AllOf) == 1 {
		s = s.AllOf[0]
	}
	return strings.TrimPrefix(s.Ref, "#/$defs/")
}

// choices returns the types one of which s is; none if s is one type.
func (s *schema) choices() []*schema { return append(slices.Clone(s.AnyOf), s.OneOf...) }

// values returns the schema of the values of an object that is a map; nil if it is none.
func (s *schema) values() *schema {
	var of schema
	if len(s.Properties) > 0 || len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' || json.Unmarshal(s.AdditionalProperties, &of) != nil {
		return nil
	}
	return &of
}

// A language says how types are written in it.
type language struct {
	head    string
	words   map[string]string // the words for null, string, boolean, integer and number
	quote   func(text string) string
	literal func(values []string) string // what is one of some values
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

// generate writes all types of a schema, in the order of their names, and the root's at the end.
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

// identifier is what all languages take for a name as it is.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func optional(s *schema, m member) bool { return !slices.Contains(s.Required, m.name) }

func quoted(text string) string { return fmt.Sprintf("%q", text) }
