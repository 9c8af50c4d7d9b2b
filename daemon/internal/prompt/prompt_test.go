package prompt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

func TestCompose(t *testing.T) {
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
			require.Equal(t, c.want, Compose(c.remarks, c.context, "do it"))
		})
	}
}

func TestForkTitle(t *testing.T) {
	for title, want := range map[string]string{
		"":                  "",
		"a":                 "a (fork)",
		"a (fork)":          "a (fork 2)",
		"a (fork 2)":        "a (fork 3)",
		"a (fork 1)":        "a (fork 1) (fork)",
		"a (fork two)":      "a (fork two) (fork)",
		"a (fork) b":        "a (fork) b (fork)",
		"a (fork) (fork 9)": "a (fork) (fork 10)",
	} {
		none := func(string, string, int) ([]*sessions.Session, string, error) { return nil, "", nil }
		require.Equal(t, want, ForkTitle(title, "/w", none), title)
	}
}

// TestForkTitleIsItsOwn: two forks of a session do not get the same title.
func TestForkTitleIsItsOwn(t *testing.T) {
	there := []*sessions.Session{{Title: "a"}}
	list := func(root, _ string, _ int) ([]*sessions.Session, string, error) { return there, "", nil }
	for _, step := range [][2]string{{"a", "a (fork)"}, {"a", "a (fork 2)"}, {"a (fork)", "a (fork 3)"}, {"b", "b (fork)"}} {
		title := ForkTitle(step[0], "/w", list)
		require.Equal(t, step[1], title)
		there = append(there, &sessions.Session{Title: title})
	}
}

func TestTitle(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                         "",
		"\n  fix   the\tbug \nnow": "fix the bug",
		strings.Repeat("é", 81):    strings.Repeat("é", 79) + "…",
		strings.Repeat("é", 80):    strings.Repeat("é", 80),
	} {
		require.Equal(t, want, Title(prompt))
	}
}

// TestSentKeepsWhatWentWithAPrompt: all but images, and texts as long as there is room.
func TestSentKeepsWhatWentWithAPrompt(t *testing.T) {
	at := &api.Range{Start: api.Position{Line: 1}, End: api.Position{Line: 4}}
	long := strings.Repeat("x", keptText-3)
	kept := Sent([]api.Context{
		{Kind: "file", Path: "f", Range: at},
		{Kind: "image", Path: "/i.png"},
		{Kind: "text", Title: "stdin", Text: long},
		{Kind: "selection", Path: "f", Range: at, Text: "long"},
		{Kind: "text", Text: ""},
	})
	none := ""
	require.Equal(t, []sessions.Sent{
		{Kind: "file", Path: "f", Range: at},
		{Kind: "text", Title: "stdin", Text: &long},
		{Kind: "selection", Path: "f", Range: at},
		{Kind: "text", Text: &none},
	}, kept)
}
