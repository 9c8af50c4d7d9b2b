package view

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
)

func TestMarkWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   []string
		want []string // the same with the changed words in brackets
	}{
		{name: "one word", in: []string{" a", "-x = one + 2", "+x = two + 2"}, want: []string{" a", "-x = [one] + 2", "+x = [two] + 2"}},
		{name: "several", in: []string{"-f(a, b, c)", "+f(a, x, c, d)"}, want: []string{"-f(a, [b], c)", "+f(a, [x], c[, d])"}},
		{name: "nothing in common", in: []string{"-one", "+two"}, want: []string{"-one", "+two"}},
		{name: "only blanks", in: []string{"-\tx := 1", "+\t\tx := 1"}, want: []string{"-[\t]x := 1", "+[\t\t]x := 1"}},
		{name: "added alone", in: []string{"+x = 1", " a", "-x = 2"}, want: []string{"+x = 1", " a", "-x = 2"}},
		{
			name: "pairs in order", in: []string{"-a = 1;", "-b = 1;", "+a = 2;", "+b = 2;"},
			want: []string{"-a = [1];", "-b = [1];", "+a = [2];", "+b = [2];"},
		},
		{
			name: "a new line before", in: []string{"-return total", "+if total < 0 {", "+return total, nil"},
			want: []string{"-return total", "+if total < 0 {", "+return total[, nil]"},
		},
		{
			name: "a line less", in: []string{"-quite another thing", "-return old(value)", "+return new(value)"},
			want: []string{"-quite another thing", "-return [old](value)", "+return [new](value)"},
		},
		{name: "runes", in: []string{"-größe = «ä»", "+größe = «ö»"}, want: []string{"-größe = «[ä]»", "+größe = «[ö]»"}},
		{name: "empty", in: []string{"-", "+", "-  "}, want: []string{"-", "+", "-  "}},
		{
			name: "too long", in: []string{"-" + strings.Repeat("a ", markLimit) + "b", "+" + strings.Repeat("a ", markLimit) + "c"},
			want: []string{"-" + strings.Repeat("a ", markLimit) + "b", "+" + strings.Repeat("a ", markLimit) + "c"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, marks := range markWords(tt.in) {
				line := tt.in[i]
				for j := range marks {
					m := marks[len(marks)-1-j]
					line = line[:m.From] + "[" + line[m.From:m.To] + "]" + line[m.To:]
				}
				got = append(got, line)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// What a marked line shows can do nothing to the terminal, inside of a mark and outside.
func TestMarkedIsHarmless(t *testing.T) {
	t.Parallel()
	line := "-a\x1b[2J b\x1b]0;x\x07 c\u202e"
	require.Equal(t, "\x1b[31m-a␛[2J \x1b[7mb␛]0;x␇\x1b[27m c<U+202E>\x1b[0m", marked(term.Palette(true), "31", line, []mark{{7, 14}}))
	require.Equal(t, "-a␛[2J b␛]0;x␇ c<U+202E>", marked(term.Palette(false), "31", line, []mark{{7, 14}}))
}
