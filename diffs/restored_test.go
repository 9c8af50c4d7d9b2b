package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOriginsOfWhatCameBack: an agent takes lines away and brings them back, by a stash, a checkout or a turn that thinks better of it. The
// lines are of who wrote them before; once they were the agent's.
func TestOriginsOfWhatCameBack(t *testing.T) {
	sourcesOf := func(origins []Origin) (all string) {
		for _, o := range origins {
			if o.Source == nil {
				all += "- "
			} else {
				all += o.Source.TurnID + " "
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		base, want string
		steps      []string // by turns 1, 2 and so on; "-" for no file
	}{
		"some lines":                 {"first\nsecond\nthird\n", "- ", []string{"first\nthird\n", "first\nsecond\nthird\n"}},
		"all lines":                  {"1\n2\n3\n", "- ", []string{"", "1\n2\n3\n"}},
		"the file":                   {"1\n2\n3\n", "- ", []string{"-", "1\n2\n3\n"}},
		"a changed line":             {"first\nsecond\nthird\n", "- ", []string{"first\n2nd\nthird\n", "first\nsecond\nthird\n"}},
		"twice":                      {"first\nsecond\n", "- ", []string{"first\n", "first\nsecond\n", "first\n", "first\nsecond\n"}},
		"an earlier turn's":          {"first\n", "- 1 ", []string{"first\nsecond\n", "first\n", "first\nsecond\n"}},
		"with a new line":            {"first\nsecond\nthird\n", "- 2 - ", []string{"first\n", "first\nsecond\nfourth\nthird\n"}},
		"another at its place":       {"first\nsecond\nthird\n", "- 2 - ", []string{"first\nthird\n", "first\nother\nthird\n"}},
		"a line that is anywhere":    {"first\n{\nsecond\n}\nthird\n", "- 2 - ", []string{"first\nthird\n", "first\n{\nother\n}\nthird\n"}},
		"short lines, each replaced": {"f:\n x=1\n y=2\nend\n", "- ", []string{"f:\n a=3\n b=4\nend\n", "f:\n x=1\n y=2\nend\n"}},
		"replaced twice":             {"f:\n x=1\n y=2\nend\n", "- ", []string{"f:\n a=3\n b=4\nend\n", "f:\n c=5\n d=6\nend\n", "f:\n x=1\n y=2\nend\n"}},
		"short lines and a new one":  {"f:\n x=1\n y=2\nend\n", "- 2 - ", []string{"f:\n a=3\n b=4\nend\n", "f:\n x=1\n y=2\n z=3\nend\n"}},
		"one of two short lines":     {"f:\n x=1\n y=2\nend\n", "- 2 - ", []string{"f:\n a=3\n b=4\nend\n", "f:\n x=1\n b=5\nend\n"}},
		"moved":                      {"first\nsecond\nthird\nfourth\n", "- 1 ", []string{"second\nthird\nfourth\nfirst\n"}},
	} {
		for _, accepts := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r := New(file(c.base))
				accept := func() {
					for _, h := range r.Hunks() {
						_, err := r.Decide([]uint64{h.ID}, true, nil)
						require.NoError(t, err)
					}
				}
				for i, text := range c.steps {
					now := file(text)
					if text == "-" {
						now = Content{}
					}
					r.Observe(now, by("s", string(rune('1'+i))))
					if accepts {
						accept()
					}
				}
				accept()
				check := func(r *Review) {
					t.Helper()
					require.Equal(t, c.want, sourcesOf(r.Origins()))
					require.Equal(t, c.want, sourcesOf(r.OriginsOf(string(r.Current().Data))))
					for _, o := range r.Origins() {
						if o.Source == nil {
							require.Empty(t, r.Former(o))
						}
					}
				}
				check(r)
				check(restored(t, r))
			})
		}
	}
}

// TestWhatCameBackOutlivesWhatIsAroundIt: a turn moves or deletes lines of a person and puts them back. The person then moves a line between
// them, and then changes all line ends. Nothing of it was an agent's.
func TestWhatCameBackOutlivesWhatIsAroundIt(t *testing.T) {
	text := func(order string) (all string) {
		for _, c := range order {
			all += "compute_value_" + string(c) + " = lookup_thing_" + string(c) + "()\n"
		}
		return all
	}
	for _, away := range []string{"56712348", "12348", "12xyz678", "", "87654321"} {
		for _, turn := range []string{"1", "2"} {
			for _, accepts := range []bool{true, false} {
				r := New(file(text("12345678")))
				observe := func(text string, src *Source) {
					r.Observe(file(text), src)
					for accepts && r.Pending() {
						_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
						require.NoError(t, err)
					}
					r = restored(t, r)
				}
				observe(text(away), by("s", "1"))
				observe(text("12345678"), by("s", turn))
				observe(text("12356478"), nil)
				require.Equal(t, "- - - - - - - - ", writersIn(r.Origins()), "%q, turn %s", away, turn)
				observe(strings.ReplaceAll(text("12345678"), "\n", "\r\n"), nil)
				require.Equal(t, "- - - - - - - - ", writersIn(r.Origins()), "%q, turn %s", away, turn)
			}
		}
	}
}
