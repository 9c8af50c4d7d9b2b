package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writersIn names the turn of each line of a text, "-" for none, and marks those that only the text tells.
func writersIn(origins []Origin) (by string) {
	for _, o := range origins {
		mark := "-"
		if o.Source != nil {
			mark = o.Source.TurnID
		}
		if o.ByText {
			mark += "?"
		}
		by += strings.Repeat(mark+" ", o.To-o.From)
	}
	return by
}

// TestLinesThatAnAgentMovesKeepTheirSource: a block that a turn only moves in a file is of who wrote it, a person or an earlier turn.
func TestLinesThatAnAgentMovesKeepTheirSource(t *testing.T) {
	const head = "package main\n\nvar one = 1\nvar two = 2\nvar three = 3\nvar four = 4\n"
	block := "func f() {\n\tx++\n}\n"
	for name, c := range map[string]struct {
		base, want string
		steps      []string // each as the number of its turn, a space and the text
	}{
		"a person's block":         {block + head, "- - - - - - - - - ", []string{"1 " + head + block}},
		"an earlier turn's":        {head, "- - - - - - 1 1 1 2 ", []string{"1 " + block + head, "2 " + head + block + "var last = 9\n"}},
		"in two steps":             {block + head, "- - - - - - - - - ", []string{"1 " + head, "1 " + head + block}},
		"back by another turn":     {block + head, "- - - - - - 2 2 2 ", []string{"1 " + head, "2 " + head + block}},
		"with a new line":          {block + head, "- - - - - - 1 - - - ", []string{"1 " + head + "var new = 0\n" + block}},
		"a line that tells itself": {"import \"strings\"\n" + head, "- - - - - - - ", []string{"1 " + head + "import \"strings\"\n"}},
		"a line of few letters":    {"x := 1\n" + head, "- - - - - - 1 ", []string{"1 " + head + "x := 1\n"}},
		"a copy":                   {block + head, "- - - - - - - - - 1 1 1 ", []string{"1 " + block + head + block}},
		"lines without letters":    {"{\n}\n(\n" + head, "- - - - - - 1 1 1 ", []string{"1 " + head + "{\n}\n(\n"}},
		"a changed block":          {block + head, "- - - - - - 1 1 1 ", []string{"1 " + head + "func g() {\n\ty++\n}\n"}},
	} {
		for _, accepts := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r := New(file(c.base))
				for _, step := range c.steps {
					turn, text, _ := strings.Cut(step, " ")
					r.Observe(file(text), by("s", turn))
					for _, h := range r.Hunks() {
						if accepts {
							_, err := r.Decide([]uint64{h.ID}, true, nil)
							require.NoError(t, err)
						}
					}
				}
				require.Equal(t, c.want, writersIn(r.Origins()))
				require.Equal(t, c.want, writersIn(restored(t, r).OriginsOf(string(r.Current().Data))))
				for _, o := range r.Origins() {
					require.True(t, o.Source != nil || len(r.Former(o)) == 0)
				}
			})
		}
	}
}

// TestLinesThatAPersonMoves: a line that the text has once keeps its source when a person moves it, however few its letters are. Only those of
// lines that tell were known.
func TestLinesThatAPersonMoves(t *testing.T) {
	const head = "first = 1\nsecond = 2\nthird = 3\nfourth = 4\nfifth = 5\n"
	const sub, comment = "def sub(a, b):\n", "    return a - b  # mine\n"
	for name, c := range map[string]struct {
		agent string
		steps []string // a person's
		want  string
	}{
		"beside a changed line":   {head + sub + "    return a - b\n", []string{head + sub + comment, sub + comment + head}, "1? - 1 1 1 1 1 "},
		"twice":                   {head + sub + "    return a - b\n", []string{head + sub + comment, sub + comment + head, head + sub + comment}, "1 1 1 1 1 1? - "},
		"a letter":                {head + "x\n", []string{"x\n" + head}, "1? 1 1 1 1 1 "},
		"a bracket":               {head + "}\n", []string{"}\n" + head}, "- 1 1 1 1 1 "},
		"a blank line":            {head + "\n", []string{"\n" + head}, "- 1 1 1 1 1 "},
		"one of two":              {"pass\n" + head + "pass\n", []string{"pass\n" + strings.Replace(head, "third", "pass\nthird", 1)}, "1 1 1 - 1 1 1 "},
		"in two steps":            {head + sub, []string{head, sub + head}, "- 1 1 1 1 1 "},
		"moved, then typed again": {head + sub, []string{sub + head, head, "mine = 6\n" + head + sub}, "- 1 1 1 1 1 - "},
		"typed twice":             {head + sub, []string{sub + head + sub + "x\n", sub + sub + head}, "- - 1 1 1 1 1 "},
	} {
		for _, accepts := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r := New(Content{})
				r.Observe(file(c.agent), by("s", "1"))
				if accepts {
					_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
					require.NoError(t, err)
				}
				for _, text := range c.steps {
					r.Observe(file(text), nil)
				}
				require.Equal(t, c.want, writersIn(r.Origins()))
				for _, r := range []*Review{r, restored(t, r)} {
					require.Equal(t, c.want, writersIn(r.OriginsOf(string(r.Current().Data))))
				}
				require.Equal(t, c.want, writersIn(Tell(r.Origins(), string(r.Current().Data))), "what was told stays")
				_, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"1"}})
				require.NoError(t, err)
			})
		}
	}
}
