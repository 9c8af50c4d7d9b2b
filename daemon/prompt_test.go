package daemon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

func TestComposePrompt(t *testing.T) {
	at := func(from, to, char int) *api.Range {
		return &api.Range{Start: api.Position{Line: from}, End: api.Position{Line: to, Character: char}}
	}
	for _, c := range []struct {
		name    string
		remarks []string
		context []api.Context
		want    string
	}{
		{"nothing", nil, nil, "do it"},
		{"a file", nil, []api.Context{{Kind: "file", Path: "a.go"}}, "<context>\n<file path=\"a.go\" />\n</context>\n\ndo it"},
		{
			"a selection of whole lines", nil, []api.Context{{Kind: "selection", Path: "a.go", Range: at(2, 4, 0), Text: "x\ny\n"}},
			"<context>\n<selection path=\"a.go\" lines=\"3-4\">\nx\ny\n</selection>\n</context>\n\ndo it",
		},
		{
			"a selection inside a line", nil, []api.Context{{Kind: "selection", Path: "a.go", Range: at(2, 2, 7), Text: "x"}},
			"<context>\n<selection path=\"a.go\" lines=\"3\">\nx\n</selection>\n</context>\n\ndo it",
		},
		{
			"diagnostics", nil, []api.Context{{Kind: "diagnostics", Path: "a.go", Items: []api.Diagnostic{
				{Range: *at(0, 0, 0), Severity: 2, Message: "unused", Source: "vet"}, {Range: *at(4, 4, 1), Severity: 1, Message: "bad"},
			}}},
			"<context>\n<diagnostics path=\"a.go\">\n1:1 warning: unused (vet)\n5:1 error: bad\n</diagnostics>\n</context>\n\ndo it",
		},
		{
			"text and remarks", []string{"no"}, []api.Context{{Kind: "text", Title: "log", Text: "boom"}, {Kind: "text", Text: "bare\n"}},
			"<context>\n<remarks>\n- no\n</remarks>\n<text title=\"log\">\nboom\n</text>\n<text>\nbare\n</text>\n</context>\n\ndo it",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, composePrompt(c.remarks, c.context, "do it"))
		})
	}
}

func TestTurnParamsCheck(t *testing.T) {
	nul, long := "a\x00", strings.Repeat("m", 257)
	for _, c := range []struct {
		name  string
		p     api.TurnParams
		field string
		kind  api.ErrorKind
	}{
		{"good", api.TurnParams{Prompt: "x"}, "", ""},
		{"empty", api.TurnParams{Prompt: " \n"}, "prompt", api.KindInvalid},
		{"NUL", api.TurnParams{Prompt: "a\x00b"}, "prompt", api.KindInvalid},
		{"long", api.TurnParams{Prompt: strings.Repeat("x", promptMax+1)}, "prompt", api.KindTooLarge},
		{"long with context", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Text: strings.Repeat("x", promptMax)}}}, "prompt", api.KindTooLarge},
		{"id", api.TurnParams{Prompt: "x", TurnID: strings.Repeat("é", 65)}, "turnId", api.KindInvalid},
		{"id at the limit", api.TurnParams{Prompt: "x", TurnID: strings.Repeat("é", 64)}, "", ""},
		{"NUL in an id", api.TurnParams{Prompt: "x", TurnID: "a\x00"}, "turnId", api.KindInvalid},
		{"line feed in an id", api.TurnParams{Prompt: "x", TurnID: "a\nb"}, "turnId", api.KindInvalid},
		{"NUL in a model", api.TurnParams{Prompt: "x", Model: &nul}, "model", api.KindInvalid},
		{"long model", api.TurnParams{Prompt: "x", Model: &long}, "model", api.KindInvalid},
		{"long with diagnostics", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "diagnostics", Path: "a", Items: []api.Diagnostic{{Message: strings.Repeat("x", promptMax)}}}}}, "prompt", api.KindTooLarge},
		{"long with a title", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Title: strings.Repeat("x", promptMax)}}}, "prompt", api.KindTooLarge},
		{"NUL in a path", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "file", Path: "a\x00"}}}, "context[0].path", api.KindInvalid},
		{"NUL in a title", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Title: "a\x00"}}}, "context[0].title", api.KindInvalid},
		{"NUL in a diagnostic", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "diagnostics", Path: "a", Items: []api.Diagnostic{{}, {Message: "a\x00"}}}}}, "context[0].items[1].message", api.KindInvalid},
		{"kind", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "file", Path: "a"}, {Kind: "smell"}}}, "context[1].kind", api.KindInvalid},
		{"path", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "selection"}}}, "context[0].path", api.KindInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkTurn(&c.p)
			if c.kind == "" {
				require.NoError(t, err)
				return
			}
			var e *api.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.field, e.Field)
			require.Equal(t, c.kind, e.Kind)
		})
	}
}

func TestTitleOf(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                         "",
		"\n  fix   the\tbug \nnow": "fix the bug",
		strings.Repeat("é", 81):    strings.Repeat("é", 79) + "…",
		strings.Repeat("é", 80):    strings.Repeat("é", 80),
	} {
		require.Equal(t, want, titleOf(prompt))
	}
}
