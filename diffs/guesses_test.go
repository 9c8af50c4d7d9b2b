package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesThatManyTextsHaveAreNoGuess: a person writes another text over that of an agent. Lines that many texts have stay in it, and are the
// person's; what only the agent's text can have brought is a guess.
func TestLinesThatManyTextsHaveAreNoGuess(t *testing.T) {
	const agents = "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc loadConfig() error {\n\tfmt.Println(1)\n\treturn nil\n}\n\nfunc main() {\n\tloadConfig()\n}\n" +
		"\nfunc third() {\n\tcalls(3)\n\tcalls(4)\n\tcalls(5)\n}\n"
	persons := "package other\n\nimport (\n\t\"os\"\n)\n\nfunc saveThings(p string) error {\n\tos.Remove(p)\n\treturn nil\n}\n\nfunc last() {\n\tos.Exit(1)\n}\n"
	for name, c := range map[string]struct{ text, want string }{
		"another text": {persons, "- - - - - - - - - - - - - - "},
		"with a function of the agent's": {
			"mine 1\nfunc loadConfig() error {\n\tfmt.Println(1)\n\treturn nil\n}\nmine 2\nmine 3\nmine 4\n", "- 1? 1? 1? 1? - - - ",
		},
		"a part of it":  {"package main\n\nfunc main() {\n\tloadConfig()\n}\n", "1 1 1 1 1 "},
		"lines beside":  {"// mine\n" + agents + "// and mine\n", "- 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 - "},
		"a longer text": {agents + persons, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 - - - - - - - - - - - - - - "},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(Content{})
			r.Observe(file(agents), by("s", "1"))
			_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, writersIn(r.OriginsOf(c.text)), "a commit")
			r.Observe(file(c.text), nil)
			require.Equal(t, c.want, writersIn(restored(t, r).Origins()))
			r.Observe(file(agents), nil)
			require.Equal(t, strings.Repeat("1 ", 20), writersIn(restored(t, r).Origins()), "a checkout brings the text back")
		})
	}
}
