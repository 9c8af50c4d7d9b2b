package typedefs

import (
	"fmt"
	"io"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
)

// Languages lists the languages that Print knows, by the names of their flags.
var Languages = []struct {
	Name, Usage string
	types       *language
}{
	{"typescript", "types for TypeScript", typeScript},
	{"python", "types for Python 3.11: typed dictionaries, as json.loads returns them", python},
	{"lua", "types for the Lua language server, as Neovim's plugins use them", lua},
}

// Print prints a schema, or its types in the wanted language. More than one language is a misuse.
func Print(w io.Writer, schema []byte, wanted map[string]*bool) error {
	var chosen []string
	text := string(schema)
	for _, l := range Languages {
		if !*wanted[l.Name] {
			continue
		}
		chosen = append(chosen, "--"+l.Name)
		var err error
		if text, err = l.types.generate(schema); err != nil {
			return err
		}
	}
	if len(chosen) > 1 {
		return misuse.Errorf("%s do not go together: choose one", strings.Join(chosen, " and "))
	}
	_, err := io.WriteString(w, text)
	return err
}

var typeScript = &language{
	head: "// Types of cursord's protocol, printed by \"cursord schema --typescript\". For instance:\n" +
		"//   CursordProtocol[\"methods\"][\"turn/start\"][\"params\"]\n",
	words: map[string]string{"null": "null", "string": "string", "boolean": "boolean", "integer": "number", "number": "number",
		"any": "unknown", "true": "true", "false": "false"},
	quote:   quoted,
	literal: func(values []string) string { return strings.Join(values, " | ") },
	list: func(of string) string {
		if strings.Contains(of, " | ") {
			of = "(" + of + ")"
		}
		return of + "[]"
	},
	dict:   func(of string) string { return "Record<string, " + of + ">" },
	either: func(types []string) string { return strings.Join(types, " | ") },
	ref:    func(name string) string { return name },
	object: func(b *strings.Builder, name string, s *schema, l *language) {
		fmt.Fprintf(b, "\n/** %s */\nexport interface %s {\n", s.Description, name)
		for _, m := range s.Properties {
			key := m.name
			if !identifier().MatchString(key) {
				key = quoted(key)
			}
			if optional(s, m) {
				key += "?"
			}
			fmt.Fprintf(b, "  /** %s */\n  %s: %s;\n", m.Description, key, l.expression(m.schema))
		}
		b.WriteString("}\n")
	},
	alias: func(b *strings.Builder, name, description, typ string) {
		fmt.Fprintf(b, "\n/** %s */\nexport type %s = %s;\n", description, name, typ)
	},
}

// pythonKeywords are the keywords of Python, which cannot be names of a class's members.
var pythonKeywords = words("False None True and as assert async await break class continue def del elif else except finally for from " +
	"global if import in is lambda nonlocal not or pass raise return try while with yield")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

var python = &language{
	head: "# Types of cursord's protocol, printed by \"cursord schema --python\", for Python 3.11 or newer. For instance:\n" +
		"#   start: TurnStartParams = {\"workspace\": \"/home/me/app\", \"prompt\": \"Fix it.\"}\n" +
		"# json.dumps sends such a value, and json.loads returns one.\n" +
		"from typing import Any, Literal, NotRequired, TypedDict, Union\n",
	words: map[string]string{"null": "None", "string": "str", "boolean": "bool", "integer": "int", "number": "float",
		"any": "Any", "true": "True", "false": "False"},
	quote:   quoted,
	literal: func(values []string) string { return "Literal[" + strings.Join(values, ", ") + "]" },
	list:    func(of string) string { return "list[" + of + "]" },
	dict:    func(of string) string { return "dict[str, " + of + "]" },
	either:  func(types []string) string { return "Union[" + strings.Join(types, ", ") + "]" },
	ref:     quoted, // quoted, because the type may be defined later
	object: func(b *strings.Builder, name string, s *schema, l *language) {
		var keys, types []string
		class := true
		for _, m := range s.Properties {
			typ := l.expression(m.schema)
			if optional(s, m) {
				typ = "NotRequired[" + typ + "]"
			}
			keys, types = append(keys, m.name), append(types, typ)
			class = class && identifier().MatchString(m.name) && !pythonKeywords[m.name]
		}
		if class {
			fmt.Fprintf(b, "\n\nclass %s(TypedDict):\n    \"\"\"%s\"\"\"\n\n", name, s.Description)
			for i, m := range s.Properties {
				fmt.Fprintf(b, "    %s: %s  # %s\n", keys[i], types[i], m.Description)
			}
			return
		}
		fmt.Fprintf(b, "\n\n# %s\n%s = TypedDict(\n    %q,\n    {\n", s.Description, name, name)
		for i, m := range s.Properties {
			fmt.Fprintf(b, "        %q: %s,  # %s\n", keys[i], types[i], m.Description)
		}
		b.WriteString("    },\n)\n")
	},
	alias: func(b *strings.Builder, name, description, typ string) {
		fmt.Fprintf(b, "\n\n# %s\n%s = %s\n", description, name, typ)
	},
}

var lua = &language{
	head: "---@meta\n-- Types of cursord's protocol, printed by \"cursord schema --lua\", for the Lua language server. For instance:\n" +
		"--   ---@type cursord.TurnStartParams\n--   local start = { workspace = vim.fn.getcwd(), prompt = 'Fix it.' }\n",
	words: map[string]string{"null": "nil", "string": "string", "boolean": "boolean", "integer": "integer", "number": "number",
		"any": "any", "true": "true", "false": "false"},
	quote:   quoted,
	literal: func(values []string) string { return strings.Join(values, "|") },
	list: func(of string) string {
		if strings.Contains(of, "|") {
			of = "(" + of + ")"
		}
		return of + "[]"
	},
	dict:   func(of string) string { return "table<string, " + of + ">" },
	either: func(types []string) string { return strings.Join(types, "|") },
	ref:    func(name string) string { return "cursord." + name },
	object: func(b *strings.Builder, name string, s *schema, l *language) {
		fmt.Fprintf(b, "\n---%s\n---@class cursord.%s\n", s.Description, name)
		for _, m := range s.Properties {
			key := m.name
			if !identifier().MatchString(key) {
				key = "[" + quoted(key) + "]"
			}
			if optional(s, m) {
				key += "?"
			}
			fmt.Fprintf(b, "---@field %s %s %s\n", key, l.expression(m.schema), m.Description)
		}
	},
	alias: func(b *strings.Builder, name, description, typ string) {
		fmt.Fprintf(b, "\n---%s\n---@alias cursord.%s %s\n", description, name, typ)
	},
}
