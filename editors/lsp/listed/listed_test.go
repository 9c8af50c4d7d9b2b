package listed

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestCountHunks: a hunk counts once, and once for each session that has made it.
func TestCountHunks(t *testing.T) {
	one, two := sessions.Source{SessionID: "s1"}, sessions.Source{SessionID: "s2"}
	n := CountHunks(slices.Values([]*sessions.Diff{
		{Hunks: []sessions.Hunk{{Sources: []sessions.Source{one, one}}, {Sources: []sessions.Source{one, two}}}}, {Hunks: []sessions.Hunk{{}}},
	}))
	require.Equal(t, Hunks{All: 3, Of: map[string]int{"s1": 2, "s2": 1}}, n)
}

// TestRenamed edits a list as people do.
func TestRenamed(t *testing.T) {
	one := &sessions.Session{ID: "s1", Title: "fix · it", Turns: 2}
	none := &sessions.Session{ID: "s2"}
	titles := map[string]string{"s1": Title(one.Title), "s2": Title("")}
	text := About + Line(one, " · running") + "\n" + Line(none, "") + "\n"
	for name, c := range map[string]struct {
		old, new string
		renamed  map[string]string
		damaged  int
	}{
		"nothing":             {"", "", map[string]string{}, 0},
		"a title":             {"fix - it", "mended", map[string]string{"s1": "mended"}, 0},
		"a session without":   {"(no title)", "  first  ", map[string]string{"s2": "first"}, 0},
		"an empty title":      {"fix - it", "", map[string]string{}, 0},
		"the line's start":    {"- fix", "fix", map[string]string{}, 1},
		"an id":               {"· s1", "· s9", map[string]string{}, 0},
		"a line is taken out": {Line(one, " · running") + "\n", "", map[string]string{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			renamed, damaged := Renamed(strings.Replace(text, c.old, c.new, 1), titles)
			require.Equal(t, c.renamed, renamed)
			require.Equal(t, c.damaged, damaged)
		})
	}
}
