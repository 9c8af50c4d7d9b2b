package hunks

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// TestMarksMove: a mark follows text that is typed beside it and in it.
func TestMarksMove(t *testing.T) {
	at := func(line, character int) protocol.Position {
		return protocol.Position{Line: line, Character: character}
	}
	for _, one := range []struct {
		name     string
		edit     protocol.Range
		now      string
		from, to int // of a mark that was at 2 to 4
	}{
		{"a line in front", protocol.Range{Start: at(0, 0), End: at(0, 0)}, "new\n", 3, 5},
		{"a line right in front", protocol.Range{Start: at(2, 0), End: at(2, 0)}, "new\n", 3, 5},
		{"a line inside", protocol.Range{Start: at(3, 0), End: at(3, 0)}, "new\n", 2, 5},
		{"a line right behind", protocol.Range{Start: at(4, 0), End: at(4, 0)}, "new\n", 2, 4},
		{"in a line in front", protocol.Range{Start: at(1, 0), End: at(1, 1)}, "xyz", 2, 4},
		{"a line in front is cut in two", protocol.Range{Start: at(1, 1), End: at(1, 1)}, "\n", 3, 5},
		{"in a line of it", protocol.Range{Start: at(2, 1), End: at(2, 1)}, "xyz", 2, 4},
		{"a line of it is cut in two", protocol.Range{Start: at(2, 1), End: at(2, 1)}, "\n", 2, 5},
		{"a line of it goes", protocol.Range{Start: at(2, 0), End: at(3, 0)}, "", 2, 3},
		{"all of it goes", protocol.Range{Start: at(2, 0), End: at(4, 0)}, "", 2, 2},
		{"lines in front go", protocol.Range{Start: at(0, 0), End: at(2, 0)}, "", 0, 2},
		{"from in front into it", protocol.Range{Start: at(1, 0), End: at(3, 0)}, "new\n", 1, 3},
		{"from it to behind", protocol.Range{Start: at(3, 1), End: at(5, 1)}, "new", 2, 4},
		{"far behind", protocol.Range{Start: at(5, 0), End: at(5, 0)}, "a\nb\n", 2, 4},
	} {
		t.Run(one.name, func(t *testing.T) {
			step := LinesOfEdit(protocol.NewText("0\n1\n2\n3\n4\n5\n"), one.edit, protocol.UTF16, one.now)
			require.Equal(t, Mark{NewSide, one.from, one.to}, Mark{NewSide, 2, 4}.Moved(step))
		})
	}
}

// TestTypedLines compares the reported lines of an edit with the texts before and after.
func TestTypedLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		var b strings.Builder
		for range rnd.IntN(n) {
			b.WriteString([]string{"a", "b", "\n", "\r\n", "𝄞"}[rnd.IntN(5)])
		}
		return b.String()
	}
	for range 5000 {
		was := protocol.NewText(random(30))
		from := rnd.IntN(len(was.Content) + 1)
		r := was.Span(from, from+rnd.IntN(len(was.Content)-from+1), protocol.UTF16)
		put := random(8)
		now := was.Edit(r, protocol.UTF16, put)
		for _, said := range []LineEdit{LinesOfEdit(was, r, protocol.UTF16, put), LinesBetween(was, now)} {
			what := fmt.Sprintf("%q %v %q → %q: %v", was.Content, r, put, now.Content, said)
			for i := range min(said.from, was.CountLines(), now.CountLines()) {
				require.Equal(t, was.Line(i), now.Line(i), what)
			}
			for i := said.to; i < was.CountLines(); i++ {
				require.Equal(t, was.Line(i), now.Line(i-said.to+said.from+said.lines), what)
			}
		}
	}
}

// TestLineRangeHasTheUsersLines: a hunk that only adds lines is at lines that are there: the user's, which it is beside, or at the end of a
// text the last one.
func TestLineRangeHasTheUsersLines(t *testing.T) {
	lines := func(p Placed) [2]int {
		r := p.LineRange(protocol.UTF16)
		return [2]int{r.Start.Line, r.End.Line}
	}
	text := protocol.NewText("1\n2 mine\n3 mine\n4\n")
	beside := &sessions.Hunk{Kind: "text", Lines: []string{" 1", " 2 mine", " 3 mine", "+agent", " 4"}, Beside: []int{1, 2}}
	behind := &sessions.Hunk{Kind: "text", Lines: []string{" 1", "+agent", " 2 mine", " 3 mine", " 4"}, Beside: []int{2, 3}}
	last := &sessions.Hunk{Kind: "text", Lines: []string{" 3 mine", " 4", "+agent"}}
	for _, of := range []*protocol.Text{text, nil} {
		require.Equal(t, [2]int{1, 2}, lines(Placed{Hunk: beside, Text: of, From: 3, To: 3}))
		require.Equal(t, [2]int{1, 2}, lines(Placed{Hunk: behind, Text: of, From: 1, To: 1}))
		require.Equal(t, [2]int{3, 3}, lines(Placed{Hunk: last, Text: of, From: 4, To: 4}))
	}
}
