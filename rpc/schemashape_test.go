package rpc

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// rootOf returns the schema: an object with a member for each direction (methods, notifications, clientNotifications) and
// for error. Their members are the names on the wire, so that generated types map names to types.
func rootOf(defs jsonschema.Definitions, methods, sent, taken, failure *jsonschema.Schema) *jsonschema.Schema {
	root := members()
	root.Version, root.Title = jsonschema.Version, "CursordProtocol"
	root.Description = "Version 1 of the protocol between cursord and its clients. No message looks like this: it is a map from the names of messages to their types. A later daemon may send members and words that are not here."
	add(root, "methods", described(refer("Methods"), "requests of clients: their parameters and results"))
	add(root, "notifications", described(refer("Notifications"), "what the daemon sends unasked"))
	add(root, "clientNotifications", described(refer("ClientNotifications"), "what clients send without an answer"))
	add(root, "error", described(failure, "the error member of a response"))
	for name, s := range map[string]*jsonschema.Schema{"Methods": methods, "Notifications": sent, "ClientNotifications": taken} {
		s.Title = name
		defs[name] = s
	}
	methods.Description = "Requests of clients by their names."
	sent.Description = "Parameters of the notifications that the daemon sends, by their names."
	taken.Description = "Parameters of the notifications that clients send, by their names."
	root.Definitions = defs
	return root
}

// members returns the schema of an object without any other members than the added ones.
func members() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

// add adds a required member, and keeps the members sorted.
func add(s *jsonschema.Schema, name string, member *jsonschema.Schema) {
	s.Required = append(s.Required, name)
	slices.Sort(s.Required)
	sorted := jsonschema.NewProperties()
	for _, one := range s.Required {
		if one == name {
			sorted.Set(one, member)
		} else {
			had, _ := s.Properties.Get(one)
			sorted.Set(one, had)
		}
	}
	s.Properties = sorted
}

// addRequest adds a request to methods, with its own type in defs.
func addRequest(defs jsonschema.Definitions, methods *jsonschema.Schema, name string, params, result *jsonschema.Schema) {
	s := members()
	s.Description = "The parameters and the result of the request " + name + "."
	add(s, "params", described(params, "the parameters of "+name))
	add(s, "result", described(result, "the answer to "+name))
	of := ""
	for word := range strings.SplitSeq(name, "/") {
		of += strings.ToUpper(word[:1]) + word[1:]
	}
	defs[of+"Request"] = s
	add(methods, name, described(refer(of+"Request"), "the request "+name))
}

// schemaOf reads the schema back.
func schemaOf(t *testing.T) *jsonschema.Schema {
	var root jsonschema.Schema
	require.NoError(t, json.Unmarshal(schema(t), &root))
	return &root
}

func refer(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// described returns s with a description. A reference gets an allOf beside the description, because some generators take a
// reference with other members for another type.
func described(s *jsonschema.Schema, text string) *jsonschema.Schema {
	if s.Ref != "" {
		return &jsonschema.Schema{AllOf: []*jsonschema.Schema{refer(strings.TrimPrefix(s.Ref, "#/$defs/"))}, Description: text}
	}
	with := *s
	with.Description = text
	return &with
}

// nameOf returns a type's name in the schema. Many languages have types called None and Error, so those get other names.
func nameOf(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[None]():
		return "NoParams"
	case reflect.TypeFor[Done]():
		return "NoResult"
	case reflect.TypeFor[Error]():
		return "ResponseError"
	}
	return typ.Name()
}

// numbersOf returns the fields with a fixed set of numbers.
func numbersOf() map[string][]any {
	codes := []any{CodeParse, CodeInvalidRequest, CodeMethodNotFound}
	for _, kind := range plain()[reflect.TypeFor[api.ErrorKind]()].Enum {
		if code := codeOf(api.ErrorKind(kind.(string))); !slices.Contains(codes, any(code)) {
			codes = append(codes, code)
		}
	}
	return map[string][]any{
		"ResponseError.code":               codes,
		"Diagnostic.severity":              {1, 2, 3, 4},
		"InitializeParams.protocolVersion": {ProtocolVersion},
		"InitializeResult.protocolVersion": {ProtocolVersion},
	}
}

// addDescriptions adds the texts of testdata/descriptions.txt to types and members, and to other types their role in
// messages.
func addDescriptions(t *testing.T, defs jsonschema.Definitions, roles map[string][]string) {
	raw, err := os.ReadFile("testdata/descriptions.txt")
	require.NoError(t, err)
	texts, used := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, text, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		require.NotContains(t, texts, name)
		texts[name] = text
	}
	find := func(names ...string) string {
		for _, name := range names {
			if text := texts[name]; text != "" {
				used[name] = true
				return text
			}
		}
		return ""
	}
	for name, def := range defs {
		slices.Sort(roles[name])
		said := strings.Join(roles[name], ", ")
		if said != "" {
			said = strings.ToUpper(said[:1]) + said[1:] + "."
		}
		def.Description = cmp.Or(find(name), said)
		if def.Properties == nil {
			continue
		}
		of := strings.Replace(name, "Summary", "", 1)
		for pair := def.Properties.Oldest(); pair != nil; pair = pair.Next() {
			names := []string{of + "." + pair.Key}
			if strings.HasSuffix(name, "Params") {
				names = append(names, "*Params."+pair.Key)
			}
			inner := pair.Value
			inner.Description = ""
			if len(inner.OneOf) > 0 {
				inner.OneOf[0].Description = ""
			}
			pair.Value = described(inner, find(append(names, pair.Key)...))
		}
	}
	for name := range texts {
		require.True(t, used[name], "descriptions.txt: there is no %s", name)
	}
}

// A variant is one form of a union: its members, which are required unless they end with ?, and the allowed words of some
// members.
type variant struct {
	name, description string
	members           string
	only              map[string][]any
}

func kind(words ...any) map[string][]any { return map[string][]any{"kind": words} }

var unions = map[string][]variant{
	"Item": {
		{"TextItem", "An item that is text: the agent's words, its thoughts or its plan, or a notice of the daemon.",
			"id turnId sessionId workspace index kind status text? reason? waits? startedAt endedAt? seq", kind("assistant", "thinking", "plan", "notice")},
		{"ToolItem", "An item that is a call of a tool.",
			"id turnId sessionId workspace index kind status tool changes? moreChanges? waits? startedAt endedAt? seq", kind("tool")},
	},
	"Context": {
		{"FileContext", "A file that the agent is to look at.", "kind path range?", kind("file")},
		{"SelectionContext", "Text that the user has selected in a file.", "kind path range text", kind("selection")},
		{"DiagnosticsContext", "Messages about places in a file.", "kind path items", kind("diagnostics")},
		{"TextContext", "A text.", "kind text title?", kind("text")},
		{"ImageFileContext", "An image in a file.", "kind path", kind("image")},
		{"ImageDataContext", "An image without a file.", "kind data mimeType?", kind("image")},
	},
	"SessionChanged": {
		{"SessionUpdated", "A session is new or has changed.", "workspace seq session", nil},
		{"SessionRemoved", "A session was deleted.", "workspace seq sessionId removed", map[string][]any{"removed": {true}}},
	},
	"ExportPart": {
		{"ExportedTurn", "A turn of an exported session.", "turn", nil},
		{"ExportedItem", "An item of an exported session.", "item", nil},
		{"ExportedWriting", "What an exported session has written in a file.", "written", nil},
		{"ExportedTold", "What an exported session was told of a decision.", "told", nil},
	},
	"DecideParams": {
		{"DecideHunks", "A decision about hunks.", "workspace hunks rev? lines? comment? both? replace? asEdits?", nil},
		{"DecidePath", "A decision about a file.", "workspace path rev? comment? asEdits?", nil},
		{"DecideTurn", "A decision about what a turn did.", "workspace turnId comment? asEdits?", nil},
		{"DecideAll", "A decision about all that is pending.", "workspace all comment? asEdits?", map[string][]any{"all": {true}}},
	},
	"DismissParams": {
		{"DismissPath", "A file is taken off the list.", "workspace path", nil},
		{"DismissAll", "All files that nobody can decide are taken off the list.", "workspace all", map[string][]any{"all": {true}}},
	},
}

// addUnions replaces each union by a choice of its variants.
func addUnions(t *testing.T, defs jsonschema.Definitions) {
	for _, of := range slices.Sorted(maps.Keys(unions)) {
		whole := defs[of]
		union := &jsonschema.Schema{Description: whole.Description}
		left := map[string]bool{}
		for pair := whole.Properties.Oldest(); pair != nil; pair = pair.Next() {
			left[pair.Key] = true
		}
		for _, v := range unions[of] {
			s := &jsonschema.Schema{Type: "object", Description: v.description, Properties: jsonschema.NewProperties()}
			for _, member := range strings.Fields(v.members) {
				name, optional := strings.CutSuffix(member, "?")
				property, ok := whole.Properties.Get(name)
				require.True(t, ok, "%s.%s", of, name)
				if !optional {
					s.Required = append(s.Required, name)
					if len(property.OneOf) == 2 { // null means the same as a missing member
						property = described(property.OneOf[0], property.Description)
					}
				}
				if words := v.only[name]; words != nil {
					only := *property
					only.Enum = words
					property = &only
				}
				s.Properties.Set(name, property)
				delete(left, name)
			}
			require.NotContains(t, defs, v.name)
			defs[v.name] = s
			union.AnyOf = append(union.AnyOf, refer(v.name))
		}
		require.Empty(t, left, "members of %s that no variant has", of)
		defs[of] = union
	}
}

// TestDescriptionsAreInOrder: whoever adds a member finds the others of its type.
func TestDescriptionsAreInOrder(t *testing.T) {
	raw, err := os.ReadFile("testdata/descriptions.txt")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(raw), "\n# Types in the order of their names, each before its members.\n")
	require.True(t, found)
	last := ""
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(line, ": ")
		kind, _, member := strings.Cut(name, ".")
		if kind < last || kind == last && !member {
			t.Errorf("descriptions.txt: %s is behind a line of %s; put it among the lines of %s, the type itself first", name, last, kind)
		}
		last = kind
	}
}

// TestSchemaDescribesEverything: each type and each member has a description, without words of Go.
func TestSchemaDescribesEverything(t *testing.T) {
	words := regexp.MustCompile(`\b(nil|api|Go|struct|pointer|omitempty|[su]?int(?:64)?|bool)\b|""|\b[A-Z][a-z]+[A-Z]\w*\b|\b(ID|URI|PID)s?\b selects`)
	allowed := regexp.MustCompile(`file:// URI|HMAC-SHA256|[KM]iB`)
	check := func(what, text string) {
		if text == "" {
			t.Errorf("%s: rpc/testdata/descriptions.txt says nothing", what)
		}
		if found := words.FindString(allowed.ReplaceAllString(text, "")); found != "" {
			t.Errorf("%s: %q is no word of the protocol: %s", what, found, text)
		}
	}
	root := schemaOf(t)
	check("the root", root.Description)
	for name, def := range root.Definitions {
		check(name, def.Description)
		if def.Properties == nil {
			require.True(t, def.AnyOf != nil || def.Type == "object", name)
			continue
		}
		for pair := def.Properties.Oldest(); pair != nil; pair = pair.Next() {
			check(name+"."+pair.Key, pair.Value.Description)
		}
	}
}
