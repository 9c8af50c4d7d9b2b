package params

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

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
		{"long", api.TurnParams{Prompt: strings.Repeat("x", PromptMax+1)}, "prompt", api.KindTooLarge},
		{"long with context", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Text: strings.Repeat("x", PromptMax)}}}, "prompt", api.KindTooLarge},
		{"id", api.TurnParams{Prompt: "x", TurnID: strings.Repeat("é", 65)}, "turnId", api.KindInvalid},
		{"id at the limit", api.TurnParams{Prompt: "x", TurnID: strings.Repeat("é", 64)}, "", ""},
		{"NUL in an id", api.TurnParams{Prompt: "x", TurnID: "a\x00"}, "turnId", api.KindInvalid},
		{"line feed in an id", api.TurnParams{Prompt: "x", TurnID: "a\nb"}, "turnId", api.KindInvalid},
		{"NUL in a model", api.TurnParams{Prompt: "x", Model: &nul}, "model", api.KindInvalid},
		{"long model", api.TurnParams{Prompt: "x", Model: &long}, "model", api.KindInvalid},
		{"long with diagnostics", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "diagnostics", Path: "a", Items: []api.Diagnostic{{Message: strings.Repeat("x", PromptMax)}}}}}, "prompt", api.KindTooLarge},
		{"long with a title", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Title: strings.Repeat("x", PromptMax)}}}, "prompt", api.KindTooLarge},
		{"NUL in a path", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "file", Path: "a\x00"}}}, "context[0].path", api.KindInvalid},
		{"NUL in a title", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "text", Title: "a\x00"}}}, "context[0].title", api.KindInvalid},
		{"NUL in a diagnostic", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "diagnostics", Path: "a", Items: []api.Diagnostic{{}, {Message: "a\x00"}}}}}, "context[0].items[1].message", api.KindInvalid},
		{"kind", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "file", Path: "a"}, {Kind: "smell"}}}, "context[1].kind", api.KindInvalid},
		{"path", api.TurnParams{Prompt: "x", Context: []api.Context{{Kind: "selection"}}}, "context[0].path", api.KindInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckTurn(&c.p)
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
