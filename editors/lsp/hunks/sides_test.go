package hunks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// TestBothSides computes both sides from an editor's text and its hunks: the text before the agent, and the agent's.
func TestBothSides(t *testing.T) {
	t.Parallel()
	hunk := func(start int, lines ...string) sessions.Hunk {
		return sessions.Hunk{ID: "h", Kind: "text", OldStart: start, NewStart: start, Lines: lines}
	}
	file := sessions.Hunk{ID: "h", Kind: "file"}
	tests := []struct {
		name          string
		base          string // "-": there is no file
		kind          sessions.DiffKind
		placed        []Placed
		before, after string
		lines         []int
	}{
		{"nothing", "a\n", "modified", nil, "a\n", "a\n", nil},
		{"changed", "a\nB\nc\n", "modified", []Placed{{Hunk: ref(hunk(1, " a", "-b", "+B", " c")), Side: NewSide, From: 1, To: 2}},
			"a\nb\nc\n", "a\nB\nc\n", []int{1}},
		{"in a copy", "a\nb\nc\n", "modified", []Placed{{Hunk: ref(hunk(1, " a", "-b", "+B", "+B2", " c")), Side: OldSide, From: 1, To: 2}},
			"a\nb\nc\n", "a\nB\nB2\nc\n", []int{1}},
		{"two of each, out of order", "a\nB\nc\nd\n", "modified", []Placed{
			{Hunk: ref(hunk(3, " c", "-d", "+D")), Side: OldSide, From: 3, To: 4},
			{Hunk: ref(hunk(1, " a", "-b", "+B", " c")), Side: NewSide, From: 1, To: 2},
		}, "a\nb\nc\nd\n", "a\nB\nc\nD\n", []int{1, 3}},
		{"lines taken out", "a\nc\n", "modified", []Placed{{Hunk: ref(hunk(1, " a", "-b", "-b2", " c")), Side: NewSide, From: 1, To: 1}},
			"a\nb\nb2\nc\n", "a\nc\n", []int{1}},
		{"CR LF stays", "a\r\nB\r\n", "modified", []Placed{{Hunk: ref(hunk(1, " a\r", "-b\r", "+B\r")), Side: NewSide, From: 1, To: 2}},
			"a\r\nb\r\n", "a\r\nB\r\n", []int{1}},
		{"a last line that was open", "a\nb\n", "modified",
			[]Placed{{Hunk: &sessions.Hunk{Kind: "text", OldStart: 1, Lines: []string{" a", "-b", "+b"}, OldNoEOL: true}, Side: NewSide, From: 1, To: 2}},
			"a\nb", "a\nb\n", []int{1}},
		{"a mark at the start is no text", "\ufeffa\nB\n", "modified", []Placed{{Hunk: ref(hunk(1, " \ufeffa", "-b", "+B")), Side: NewSide, From: 1, To: 2}},
			"a\nb\n", "a\nB\n", []int{1}},
		{"not to be found in the text", "mine\n", "modified", []Placed{{Hunk: ref(hunk(1, "-a", "+b")), Side: Neither}}, "mine\n", "mine\n", []int{0}},
		{"overlapping", "x\n", "modified", []Placed{
			{Hunk: ref(hunk(1, "-x", "+y")), Side: OldSide, From: 0, To: 1}, {Hunk: ref(hunk(1, "-x", "+z")), Side: OldSide, From: 0, To: 1},
		}, "x\n", "y\n", []int{0, 1}},
		{"created", "a\nb\n", "created", []Placed{{Hunk: created("+a", "+b"), Side: NewSide}}, "", "a\nb\n", []int{0}},
		{"created in a copy", "-", "created", []Placed{{Hunk: created("+a", "+b"), Side: OldSide}}, "", "a\nb\n", []int{0}},
		{"deleted", "-", "deleted", []Placed{{Hunk: created("-a", "-b"), Side: NewSide}}, "a\nb\n", "", []int{0}},
		{"deleted in a copy", "a\nb\n", "deleted", []Placed{{Hunk: created("-a", "-b"), Side: OldSide}}, "a\nb\n", "", []int{0}},
		{"a mode", "a\n", "mode", []Placed{{Hunk: &file, Side: NewSide}}, "a\n", "a\n", []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var base *protocol.Text
			if tt.base != "-" {
				base = protocol.NewText(tt.base)
			}
			for i := range tt.placed {
				tt.placed[i].Diff = &sessions.Diff{Kind: tt.kind}
			}
			var lines []int
			before, after := BothSides(base, tt.placed, func(_ *Placed, line int) { lines = append(lines, line) })
			require.Equal(t, tt.before, before, "before")
			require.Equal(t, tt.after, after, "after")
			require.Equal(t, tt.lines, lines)
		})
	}
}

// TestBothSidesOfManyHunks: the time grows with the length of the text, and not also with the number of hunks.
func TestBothSidesOfManyHunks(t *testing.T) {
	t.Parallel()
	const n = 20000
	var list []Placed
	for i := range n {
		h := sessions.Hunk{Kind: "text", OldStart: 2*i + 2, NewStart: 2*i + 2, Lines: []string{"-old", "+new"}}
		list = append(list, Placed{Hunk: &h, Diff: &sessions.Diff{Kind: "modified"}, Side: NewSide, From: 2*i + 1, To: 2*i + 2})
	}
	base := strings.Repeat("same\nnew\n", n)
	before, after := BothSides(protocol.NewText(base), list, func(*Placed, int) {})
	require.Equal(t, strings.Repeat("same\nold\n", n), before)
	require.Equal(t, base, after)
}

func ref(h sessions.Hunk) *sessions.Hunk { return &h }

func created(lines ...string) *sessions.Hunk {
	return &sessions.Hunk{ID: "h", Kind: "file", Lines: lines}
}
