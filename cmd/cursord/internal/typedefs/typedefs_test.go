package typedefs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A schema in small, with all that rpc/schema.json has.
const small = `{"title": "Root", "description": "All.", "type": "object", "required": ["methods"],
"properties": {"methods": {"allOf": [{"$ref": "#/$defs/Methods"}], "description": "the requests"}},
"$defs": {
	"Methods": {"description": "Requests.", "type": "object", "properties": {"a/b": {"allOf": [{"$ref": "#/$defs/Nothing"}], "description": "one"}}, "required": ["a/b"]},
	"Nothing": {"description": "Nothing.", "type": "object"},
	"Shape": {"description": "One of two.", "anyOf": [{"$ref": "#/$defs/Lines"}, {"$ref": "#/$defs/Word"}]},
	"Word": {"description": "A word.", "type": "object", "required": ["kind", "done"], "properties": {
		"kind": {"type": "string", "enum": ["word"], "description": "which"},
		"done": {"type": "boolean", "enum": [true], "description": "always"},
		"tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "description": "some"},
		"left": {"oneOf": [{"type": "integer"}, {"type": "null"}], "description": "how many"},
		"of": {"type": "object", "additionalProperties": {"type": "string"}, "description": "by name"}}},
	"Lines": {"description": "Lines.", "type": "object", "required": ["from"], "properties": {
		"from": {"type": "number", "description": "the first"}, "args": {"type": "object", "description": "any"}}}}}`

func TestTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		types *language
		want  string
	}{
		{"TypeScript", typeScript, `
/** Lines. */
export interface Lines {
  /** the first */
  from: number;
  /** any */
  args?: Record<string, unknown>;
}

/** Requests. */
export interface Methods {
  /** one */
  "a/b": Nothing;
}

/** Nothing. */
export type Nothing = Record<string, unknown>;

/** One of two. */
export type Shape = Lines | Word;

/** A word. */
export interface Word {
  /** which */
  kind: "word";
  /** always */
  done: true;
  /** some */
  tags?: ("x" | "y")[];
  /** how many */
  left?: number | null;
  /** by name */
  of?: Record<string, string>;
}

/** All. */
export interface Root {
  /** the requests */
  methods: Methods;
}
`},
		{"Python", python, `

# Lines.
Lines = TypedDict(
    "Lines",
    {
        "from": float,  # the first
        "args": NotRequired[dict[str, Any]],  # any
    },
)


# Requests.
Methods = TypedDict(
    "Methods",
    {
        "a/b": "Nothing",  # one
    },
)


# Nothing.
Nothing = dict[str, Any]


# One of two.
Shape = Union["Lines", "Word"]


class Word(TypedDict):
    """A word."""

    kind: Literal["word"]  # which
    done: Literal[True]  # always
    tags: NotRequired[list[Literal["x", "y"]]]  # some
    left: NotRequired[Union[int, None]]  # how many
    of: NotRequired[dict[str, str]]  # by name


class Root(TypedDict):
    """All."""

    methods: "Methods"  # the requests
`},
		{"Lua", lua, `
---Lines.
---@class cursord.Lines
---@field from number the first
---@field args? table<string, any> any

---Requests.
---@class cursord.Methods
---@field ["a/b"] cursord.Nothing one

---Nothing.
---@alias cursord.Nothing table<string, any>

---One of two.
---@alias cursord.Shape cursord.Lines|cursord.Word

---A word.
---@class cursord.Word
---@field kind "word" which
---@field done true always
---@field tags? ("x"|"y")[] some
---@field left? integer|nil how many
---@field of? table<string, string> by name

---All.
---@class cursord.Root
---@field methods cursord.Methods the requests
`},
	}
	head := regexp.MustCompile(`(?s)^.*?\n(\n.*)$`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.types.generate([]byte(small))
			require.NoError(t, err)
			require.Equal(t, strings.TrimLeft(tt.want, "\n"), strings.TrimLeft(head.FindStringSubmatch(got)[1], "\n"))
		})
	}
}
