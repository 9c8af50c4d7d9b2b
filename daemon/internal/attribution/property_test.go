package attribution

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cursord/diffs"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// A scene is a file that persons and calls of an agent write, with looks at it now and then.
type scene struct {
	t     *rapid.T
	lines []sceneLine
	made  int
	now   int64
	looks []Look
	ended int
	sharp bool // the places of lines that a reject restores are certain
}

type sceneLine struct {
	text  string
	agent bool
	over  string // the line that the agent replaced; "" if it added one
}

func (s *scene) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func (s *scene) content() diffs.Content {
	return diffs.Content{Exists: true, Data: []byte(s.text()), Mode: 0o644}
}

// pause adds a person's save or a look, or both, or none.
func (s *scene) pause() {
	s.now++
	if rapid.IntRange(0, 2).Draw(s.t, "save") == 0 {
		s.made++
		at := rapid.IntRange(0, len(s.lines)).Draw(s.t, "at")
		if at < len(s.lines) && s.lines[at].agent || at > 0 && s.lines[at-1].agent {
			s.sharp = false
		}
		s.lines = slices.Insert(s.lines, at, sceneLine{text: fmt.Sprintf("mine %d", s.made)})
	}
	s.look(3)
}

func (s *scene) look(often int) {
	if rapid.IntRange(0, often).Draw(s.t, "look") == 0 {
		s.looks = append(s.looks, Look{Content: s.content(), At: s.now, Ended: s.ended})
	}
}

// edit lets the agent replace or add a line, and returns the agent's report.
func (s *scene) edit(src diffs.Source) Report {
	before := s.text()
	s.made++
	l := sceneLine{text: fmt.Sprintf("agent %d", s.made), agent: true}
	var free []int
	for i, have := range s.lines {
		if !have.agent {
			free = append(free, i)
		}
	}
	if rapid.Bool().Draw(s.t, "adds") {
		at := rapid.IntRange(0, len(s.lines)).Draw(s.t, "at")
		s.lines = slices.Insert(s.lines, at, l)
	} else {
		at := free[rapid.IntRange(0, len(free)-1).Draw(s.t, "line")]
		l.over = s.lines[at].text
		s.lines[at] = l
	}
	after := s.text()
	return Report{Source: src, Before: &before, After: &after, LeavesEmpty: true}
}

// checkScene plays a scene: up to three calls, one after the other or at the same time, with saves and looks at any point.
func checkScene(t *rapid.T) {
	s := &scene{t: t, sharp: true}
	for i := range 12 {
		s.lines = append(s.lines, sceneLine{text: fmt.Sprintf("base %d", i)})
	}
	last := s.content()
	calls := rapid.IntRange(1, 3).Draw(t, "calls")
	atOnce := calls > 1 && rapid.Bool().Draw(t, "at once")
	var reports []Report
	end := func(r Report) {
		s.ended++
		r.End = s.ended
		reports = append(reports, r)
		s.pause()
	}
	s.pause()
	var open []Report
	for i := range calls {
		s.look(0) // like the look at each start of a call
		s.pause()
		r := s.edit(diffs.Source{TurnID: fmt.Sprint(i), Via: diffs.ViaEdit})
		s.pause()
		if atOnce {
			open = append(open, r)
		} else {
			end(r)
		}
	}
	for _, i := range rapid.Permutation(indexes(len(open))).Draw(t, "ends") {
		end(open[i])
	}
	steps, known := Chain(Story{Last: &last, Looks: s.looks, Reports: reports, Disk: s.content()})
	require.True(t, known)
	r := diffs.Limits{}.New(steps[0].Content)
	for _, step := range steps[1:] {
		r.Observe(step.Content, step.By)
	}
	r.Observe(s.content(), nil)

	listed := map[string]bool{}
	var ids []uint64
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
		for _, l := range h.Lines {
			if l[0] != ' ' {
				listed[l] = true
			}
		}
	}
	for _, l := range s.lines {
		require.Equal(t, l.agent, listed["+"+l.text], "%q is listed", l.text)
	}
	if len(ids) > 0 {
		_, err := r.Decide(ids, false, nil)
		require.NoError(t, err)
	}
	var want []string
	for _, l := range s.lines {
		if l.agent {
			l.text = l.over
		}
		if l.text != "" {
			want = append(want, l.text)
		}
	}
	have := strings.Split(strings.TrimSuffix(string(r.Current().Data), "\n"), "\n")
	if !s.sharp {
		slices.Sort(want)
		slices.Sort(have)
	}
	require.Equal(t, want, have)
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestScenes plays random scenes.
func TestScenes(t *testing.T) { rapid.Check(t, checkScene) }

func FuzzScenes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkScene)) }

// FuzzChain uses unrelated texts: every step has the right author, and a review can take all steps.
func FuzzChain(f *testing.F) {
	f.Add("a\nb\n", "a\nx\n", "a\nb\n", "a\nc\n", "a\nc\n", uint8(0))
	f.Add("a\r\nb", "", "a\nb", "a\nc", "\ufeffa\r\nc", uint8(3))
	f.Fuzz(func(t *testing.T, last, look, before, after, disk string, flags uint8) {
		is := func(bit int) bool { return flags>>bit&1 == 1 }
		held := func(text string, there bool) diffs.Content {
			if !there {
				return diffs.Content{}
			}
			return diffs.Content{Exists: true, Data: []byte(text)}
		}
		s := Story{Disk: held(disk, !is(0)), Looks: []Look{{Content: held(look, !is(1)), Person: is(2)}}}
		if !is(3) {
			first := held(last, !is(4))
			s.Last = &first
		}
		r := Report{Source: one, LeavesEmpty: is(5)}
		if !is(6) {
			r.Before = &before
		}
		if !is(7) {
			r.After = &after
		}
		s.Reports = []Report{r}
		steps, known := Chain(s)
		require.NotEmpty(t, steps)
		require.True(t, known || len(steps) > 0 && steps[0].By != nil)
		for i, step := range steps {
			require.Equal(t, i == 0 && known, step.By == nil && i == 0 && known)
			if step.By != nil {
				require.Equal(t, one, *step.By)
			}
		}
		// A review takes the steps, and the disk after them.
		review := diffs.Limits{}.New(held("", false))
		for _, step := range steps {
			review.Observe(step.Content, step.By)
		}
		review.Observe(s.Disk, nil)
		require.True(t, same(review.Current(), s.Disk))
	})
}
