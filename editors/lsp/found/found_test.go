package found

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

func TestSymbols(t *testing.T) {
	t.Parallel()
	transcript := Transcript{
		Text:  "# Title\n\n## Prompt\n\n> make it\n> louder\n\nOne.\nIt is louder now.\n\n✓ Edit f\n",
		Lines: map[string]int{"turn": 2, "said": 7, "call": 10},
	}
	for _, c := range []struct {
		name  string
		match sessions.Match
		want  string
		line  int
	}{
		{"a title", sessions.Match{In: "title", TurnID: "turn", Title: "Title"}, "session: Title", 0},
		{"without a title", sessions.Match{In: "title"}, "session: (no title)", 0},
		{"a line of a prompt", sessions.Match{In: "prompt", TurnID: "turn", Snippet: "make it louder", Ranges: ranges(8, 14)}, "prompt: make it louder", 5},
		{"the same word in an answer", sessions.Match{In: "text", TurnID: "turn", ItemID: "said", Snippet: "One. It is louder now.", Ranges: ranges(11, 17)},
			"agent: One. It is louder now.", 8},
		{"a phrase over lines", sessions.Match{In: "text", TurnID: "turn", ItemID: "said", Snippet: "One. It is", Ranges: ranges(0, 7)}, "agent: One. It is", 7},
		{"what the transcript abridges", sessions.Match{In: "command", TurnID: "turn", ItemID: "call", Snippet: "go test", Ranges: ranges(0, 2)},
			"command: go test", 10},
		{"far behind", sessions.Match{In: "path", TurnID: "turn", ItemID: "other", Snippet: "aé aé aé aé aé aé aé aé aé word", Ranges: ranges(36, 40)},
			"path: … aé aé aé word", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := protocol.Location{URI: "file:///t.md"}
			s := Symbol(&c.match, at)
			require.Equal(t, c.want, s.Name)
			require.Equal(t, at, s.Location)
			require.Equal(t, c.line, transcript.LineOf(&c.match))
		})
	}
}

func ranges(from, to int) []sessions.ByteRange { return []sessions.ByteRange{{From: from, To: to}} }
