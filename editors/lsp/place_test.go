package lsp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMarksMove has a mark follow what is typed beside it and in it.
func TestMarksMove(t *testing.T) {
	at := func(line, character int) Position { return Position{Line: line, Character: character} }
	for _, one := range []struct {
		name     string
		edit     Range
		now      string
		from, to int // of a mark that was at 2 to 4
	}{
		{"a line in front", Range{Start: at(0, 0), End: at(0, 0)}, "new\n", 3, 5},
		{"a line right in front", Range{Start: at(2, 0), End: at(2, 0)}, "new\n", 3, 5},
		{"a line inside", Range{Start: at(3, 0), End: at(3, 0)}, "new\n", 2, 5},
		{"a line right behind", Range{Start: at(4, 0), End: at(4, 0)}, "new\n", 2, 4},
		{"in a line in front", Range{Start: at(1, 0), End: at(1, 1)}, "xyz", 2, 4},
		{"a line in front is cut in two", Range{Start: at(1, 1), End: at(1, 1)}, "\n", 3, 5},
		{"in a line of it", Range{Start: at(2, 1), End: at(2, 1)}, "xyz", 2, 4},
		{"a line of it is cut in two", Range{Start: at(2, 1), End: at(2, 1)}, "\n", 2, 5},
		{"a line of it goes", Range{Start: at(2, 0), End: at(3, 0)}, "", 2, 3},
		{"all of it goes", Range{Start: at(2, 0), End: at(4, 0)}, "", 2, 2},
		{"lines in front go", Range{Start: at(0, 0), End: at(2, 0)}, "", 0, 2},
		{"from in front into it", Range{Start: at(1, 0), End: at(3, 0)}, "new\n", 1, 3},
		{"from it to behind", Range{Start: at(3, 1), End: at(5, 1)}, "new", 2, 4},
		{"far behind", Range{Start: at(5, 0), End: at(5, 0)}, "a\nb\n", 2, 4},
	} {
		t.Run(one.name, func(t *testing.T) {
			d := &document{text: newText("0\n1\n2\n3\n4\n5\n"), places: map[string]map[string]mark{"f": {"h": {newSide, 2, 4}}}}
			d.typed(d.text.typedLines(one.edit, utf16Encoding, one.now))
			require.Equal(t, mark{newSide, one.from, one.to}, d.places["f"]["h"])
		})
	}
}

// TestTypedLines compares what is said of the lines that an edit replaces with the texts before and after.
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
		was := newText(random(30))
		from := rnd.IntN(len(was.s) + 1)
		r := was.span(from, from+rnd.IntN(len(was.s)-from+1), utf16Encoding)
		put := random(8)
		now := was.edit(r, utf16Encoding, put)
		for _, said := range []typed{was.typedLines(r, utf16Encoding, put), was.replacedLines(now)} {
			what := fmt.Sprintf("%q %v %q → %q: %v", was.s, r, put, now.s, said)
			for i := range min(said.from, was.count(), now.count()) {
				require.Equal(t, was.line(i), now.line(i), what)
			}
			for i := said.to; i < was.count(); i++ {
				require.Equal(t, was.line(i), now.line(i-said.to+said.from+said.lines), what)
			}
		}
	}
}
