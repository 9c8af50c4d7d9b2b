//go:build unix

package scenarios

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var (
	savesCount = flag.Int("saves", 60, "how many saves TestSavesAtAnyPoint makes beside an agent's edits")
	savesSeed  = flag.Uint64("saves.seed", 1, "what they are drawn from")
)

// TestSavesAtAnyPoint has persons save a file at any point of an agent's edits, which report their texts: at other lines and
// at the same, in place, by rename, and truncated first and written later; with edits one after the other and at the same
// time. No hunk adds a person's line, all lines of the agent are listed, and a reject of everything removes those and
// nothing else.
func TestSavesAtAnyPoint(t *testing.T) {
	t.Parallel()
	const worlds = 6
	for n := range worlds {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := newSavers(t, rand.New(rand.NewPCG(*savesSeed, uint64(n))))
			for s.saves < (*savesCount+worlds-1)/worlds {
				s.round()
			}
		})
	}
}

// An owned line is a line of a file with its author.
type ownedLine struct {
	text  string
	agent bool
	over  *ownedLine // the agent's replacement
}

// Savers are persons and an agent who write the same file.
type savers struct {
	t     *testing.T
	w     *world.World
	e     *world.Editor
	rng   *rand.Rand
	end   string // the number of the last new line
	mark  string // lines at the beginning of the file
	file  []*ownedLine
	made  int
	saves int
	sharp bool            // whether the order of lines after a reject is certain
	fresh map[string]bool // the agent's lines of this turn
	acts  []string
}

func newSavers(t *testing.T, rng *rand.Rand) *savers {
	s := &savers{t: t, w: world.New(t), rng: rng, end: "\n"}
	if rng.IntN(3) == 0 {
		s.end = "\r\n"
	}
	if rng.IntN(4) == 0 {
		s.mark = "\ufeff"
	}
	for i := range 30 {
		s.file = append(s.file, &ownedLine{text: fmt.Sprintf("base %d", i)})
	}
	s.w.Put("f", s.text())
	s.w.Start()
	s.e = s.w.Opens()
	return s
}

func (s *savers) text() string {
	var b strings.Builder
	b.WriteString(s.mark)
	for _, l := range s.file {
		b.WriteString(l.text + s.end)
	}
	return b.String()
}

// told returns the file as the agent reports it.
func (s *savers) told() string {
	return strings.ReplaceAll(strings.TrimPrefix(s.text(), s.mark), "\r\n", "\n")
}

func (s *savers) name(who string) string {
	s.made++
	return fmt.Sprintf("%s %d", who, s.made)
}

// save has a person save the file if it is this save's turn, with one more line or with one line replaced.
func (s *savers) save(script *[]string) {
	s.rest(script)
	if s.rng.IntN(2) > 0 {
		return
	}
	s.saves++
	l := &ownedLine{text: s.name("mine")}
	at := s.rng.IntN(len(s.file) + 1)
	if at < len(s.file) && s.rng.IntN(6) == 0 {
		if s.file[at].agent {
			s.sharp = false // the line that the agent replaced comes back beside the person's
		}
		s.acts = append(s.acts, fmt.Sprintf("person writes %q over %q", l.text, s.file[at].text))
		s.file[at] = l
	} else {
		if at < len(s.file) && s.file[at].agent || at > 0 && s.file[at-1].agent {
			s.sharp = false // before or behind the restored line
		}
		s.acts = append(s.acts, fmt.Sprintf("person adds %q at %d", l.text, at))
		s.file = slices.Insert(s.file, at, l)
	}
	staged := filepath.Join(s.w.Dir, fmt.Sprintf("staged%d", s.made))
	require.NoError(s.t, os.WriteFile(staged, []byte(s.text()), 0o644))
	switch s.rng.IntN(4) {
	case 0:
		*script = append(*script, world.Execs(fmt.Sprintf("cp %s f~ && mv f~ f", staged)))
	case 1:
		*script = append(*script, world.Execs(fmt.Sprintf(": > f; sleep 0.0%d; cat %s > f", s.rng.IntN(4), staged)))
	default:
		*script = append(*script, world.Execs(fmt.Sprintf("cat %s > f", staged)))
	}
	s.rest(script)
}

// rest waits a random time, or not at all.
func (s *savers) rest(script *[]string) {
	if ms := []int{0, 0, 0, 2, 20, 60, 130}[s.rng.IntN(7)]; ms > 0 {
		*script = append(*script, fmt.Sprintf(`{"fake":"sleep","ms":%d}`, ms))
	}
}

// edit has the agent replace a line, and returns the report for the call's end.
func (s *savers) edit(script *[]string, call string) (completed string) {
	before := s.told()
	var open []int
	for i, l := range s.file {
		if !l.agent {
			open = append(open, i)
		}
	}
	i := open[s.rng.IntN(len(open))]
	s.file[i] = &ownedLine{text: s.name("agent"), agent: true, over: s.file[i]}
	s.fresh[s.file[i].text] = true
	s.acts = append(s.acts, fmt.Sprintf("agent writes %q over %q", s.file[i].text, s.file[i].over.text))
	said := world.Edits(call, "f", before, s.told())
	text, _ := json.Marshal(s.text())
	*script = append(*script, fmt.Sprintf(`{"fake":"write","path":"f","text":%s}`, text))
	return said[2]
}

// round plays a turn, and a decision about all its hunks.
func (s *savers) round() {
	s.sharp, s.fresh, s.acts = true, map[string]bool{}, []string{"turn"}
	var script []string
	s.save(&script)
	for n := range 1 + s.rng.IntN(3) {
		a, b := fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)
		script = append(script, world.Edits(a, "f", "", "")[0])
		both := s.rng.IntN(4) == 0
		if both {
			script = append(script, world.Edits(b, "f", "", "")[0])
		}
		s.save(&script)
		ends := []string{s.edit(&script, a)}
		s.save(&script)
		if both {
			ends = append(ends, s.edit(&script, b))
			s.save(&script)
			if s.rng.IntN(2) == 0 {
				slices.Reverse(ends)
			}
		}
		for _, end := range ends {
			script = append(script, end)
			s.save(&script)
		}
	}
	s.w.Plays(world.Lines(script)...)
	s.e.Turn(nil)
	s.w.RequireTree(world.Tree{"f": s.text()})
	s.check()
	if s.rng.IntN(4) == 0 {
		s.e.Decides("diff/accept", world.Obj{"all": true})
		s.w.RequireTree(world.Tree{"f": s.text()})
		s.settle(func(l *ownedLine) *ownedLine { return &ownedLine{text: l.text} })
	} else {
		s.e.Decides("diff/reject", world.Obj{"all": true})
		s.settle(func(l *ownedLine) *ownedLine { return restored(l) })
		s.checkRejected()
	}
	require.Empty(s.t, s.e.Diffs(), "%s", strings.Join(s.acts, "\n"))
}

// restored returns the line that a reject restores.
func restored(l *ownedLine) *ownedLine {
	for l.agent {
		l = l.over
	}
	return l
}

// settle updates each line by a decision.
func (s *savers) settle(make func(*ownedLine) *ownedLine) {
	for i, l := range s.file {
		s.file[i] = make(l)
	}
}

// check requires that hunks add all of the agent's lines, each by an edit, and none of a person's.
func (s *savers) check() {
	story := strings.Join(s.acts, "\n")
	added := map[string]bool{}
	for _, d := range s.e.Diffs() {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if l[0] == '+' {
					added[strings.TrimSuffix(strings.TrimPrefix(l[1:], s.mark), "\r")] = true
				}
			}
			for _, src := range h.Sources {
				require.Equal(s.t, "edit", string(src.Via), story)
			}
		}
	}
	for _, l := range s.file {
		require.Equal(s.t, l.agent, added[l.text], "%q\n%s", l.text, story)
	}
}

// checkRejected requires the file to have exactly the lines that are not the agent's, and starts anew with that text.
func (s *savers) checkRejected() {
	story := strings.Join(s.acts, "\n")
	have := s.w.Get("f")
	if s.sharp {
		require.Equal(s.t, s.text(), have, story)
		return
	}
	count := map[string]int{}
	var now []*ownedLine
	for _, l := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(have, s.mark), s.end), s.end) {
		count[l]++
		require.Equal(s.t, 1, count[l], "%q\n%s", l, story)
		require.False(s.t, s.fresh[l], "%q\n%s", l, story)
		now = append(now, &ownedLine{text: l})
	}
	for _, l := range s.file {
		require.Equal(s.t, 1, count[l.text], "%q\n%s", l.text, story)
	}
	s.file = now
}
