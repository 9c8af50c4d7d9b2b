package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestBothSides makes of an editor's text, and of hunks at its lines, what was before the agent and what it made.
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
		placed        []placed
		before, after string
		lines         []int
	}{
		{"nothing", "a\n", "modified", nil, "a\n", "a\n", nil},
		{"changed", "a\nB\nc\n", "modified", []placed{{hunk: ref(hunk(1, " a", "-b", "+B", " c")), side: newSide, from: 1, to: 2}},
			"a\nb\nc\n", "a\nB\nc\n", []int{1}},
		{"in a copy", "a\nb\nc\n", "modified", []placed{{hunk: ref(hunk(1, " a", "-b", "+B", "+B2", " c")), side: oldSide, from: 1, to: 2}},
			"a\nb\nc\n", "a\nB\nB2\nc\n", []int{1}},
		{"two of each, out of order", "a\nB\nc\nd\n", "modified", []placed{
			{hunk: ref(hunk(3, " c", "-d", "+D")), side: oldSide, from: 3, to: 4},
			{hunk: ref(hunk(1, " a", "-b", "+B", " c")), side: newSide, from: 1, to: 2},
		}, "a\nb\nc\nd\n", "a\nB\nc\nD\n", []int{1, 3}},
		{"lines taken out", "a\nc\n", "modified", []placed{{hunk: ref(hunk(1, " a", "-b", "-b2", " c")), side: newSide, from: 1, to: 1}},
			"a\nb\nb2\nc\n", "a\nc\n", []int{1}},
		{"CR LF stays", "a\r\nB\r\n", "modified", []placed{{hunk: ref(hunk(1, " a\r", "-b\r", "+B\r")), side: newSide, from: 1, to: 2}},
			"a\r\nb\r\n", "a\r\nB\r\n", []int{1}},
		{"a last line that was open", "a\nb\n", "modified",
			[]placed{{hunk: &sessions.Hunk{Kind: "text", OldStart: 1, Lines: []string{" a", "-b", "+b"}, OldNoEOL: true}, side: newSide, from: 1, to: 2}},
			"a\nb", "a\nb\n", []int{1}},
		{"a mark at the start is no text", "\ufeffa\nB\n", "modified", []placed{{hunk: ref(hunk(1, " \ufeffa", "-b", "+B")), side: newSide, from: 1, to: 2}},
			"a\nb\n", "a\nB\n", []int{1}},
		{"not to be found in the text", "mine\n", "modified", []placed{{hunk: ref(hunk(1, "-a", "+b")), side: neither}}, "mine\n", "mine\n", []int{0}},
		{"overlapping", "x\n", "modified", []placed{
			{hunk: ref(hunk(1, "-x", "+y")), side: oldSide, from: 0, to: 1}, {hunk: ref(hunk(1, "-x", "+z")), side: oldSide, from: 0, to: 1},
		}, "x\n", "y\n", []int{0, 1}},
		{"created", "a\nb\n", "created", []placed{{hunk: created("+a", "+b"), side: newSide}}, "", "a\nb\n", []int{0}},
		{"created in a copy", "-", "created", []placed{{hunk: created("+a", "+b"), side: oldSide}}, "", "a\nb\n", []int{0}},
		{"deleted", "-", "deleted", []placed{{hunk: created("-a", "-b"), side: newSide}}, "a\nb\n", "", []int{0}},
		{"deleted in a copy", "a\nb\n", "deleted", []placed{{hunk: created("-a", "-b"), side: oldSide}}, "a\nb\n", "", []int{0}},
		{"a mode", "a\n", "mode", []placed{{hunk: &file, side: newSide}}, "a\n", "a\n", []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var base *text
			if tt.base != "-" {
				base = newText(tt.base)
			}
			for i := range tt.placed {
				tt.placed[i].diff = &sessions.Diff{Kind: tt.kind}
			}
			var lines []int
			before, after := bothSides(base, tt.placed, func(_ *placed, line int) { lines = append(lines, line) })
			require.Equal(t, tt.before, before, "before")
			require.Equal(t, tt.after, after, "after")
			require.Equal(t, tt.lines, lines)
		})
	}
}

// TestBothSidesOfManyHunks takes time by the length of the text, not by that times the number of hunks.
func TestBothSidesOfManyHunks(t *testing.T) {
	t.Parallel()
	const n = 20000
	var list []placed
	for i := range n {
		h := sessions.Hunk{Kind: "text", OldStart: 2*i + 2, NewStart: 2*i + 2, Lines: []string{"-old", "+new"}}
		list = append(list, placed{hunk: &h, diff: &sessions.Diff{Kind: "modified"}, side: newSide, from: 2*i + 1, to: 2*i + 2})
	}
	base := strings.Repeat("same\nnew\n", n)
	before, after := bothSides(newText(base), list, func(*placed, int) {})
	require.Equal(t, strings.Repeat("same\nold\n", n), before)
	require.Equal(t, base, after)
}

func ref(h sessions.Hunk) *sessions.Hunk { return &h }

func created(lines ...string) *sessions.Hunk {
	return &sessions.Hunk{ID: "h", Kind: "file", Lines: lines}
}
