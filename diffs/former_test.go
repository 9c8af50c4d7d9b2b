package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestThereAndBack: the baseline's file changes, and is then as it was before. So is the review.
func TestThereAndBack(t *testing.T) {
	for _, c := range []struct{ name, base, agent, ways string }{
		{"created twice", `-`, `a\nb\nprint(2)\nc\n`, `a\nb\nprint(1)\nc\n`},
		{"the same line", `1\n2\n3\n`, `1\n2\nthree\n`, `1\n2\n3 my\n`},
		{"the same change", `1\n2\n3\n`, `1\n2\nthree\n`, `1\n2\nthree\n`},
		{"some of the changes", `1\n2\n3\n4\n5\n`, `one\n2\nthree\n4\nfive\n`, `one\n2\nthree\n4\n5\n`},
		{"over two others", `1\n2\n3\n`, `1\n2\nthree\n`, `1\n2\n3 my\n; 0\n1\n2\nthree\n; \n; x\n1\n`},
		{"gone for a while", `1\n2\n3\n`, `1\n2\nthree\n`, `-`},
		{"gone, and made again", `1\n2\n3\n`, `1\n2\nthree\n`, `-; 3\n; -; three\n`},
		{"changed what the agent has deleted", `1\n2\n`, `-`, `1\n2\n3\n`},
		{"gone, as with the agent", `1\n2\n`, `-`, `-`},
		{"binary for a while", `1\n2\n3\n`, `1\n2\nthree\n`, `\x00`},
		{"a binary", `a\x00`, `b\x00`, `c\x00; -`},
		{"a link", `@x`, `@y`, `@z; @y`},
		{"a mode", `644:a\nb\n`, `755:a\nc\n`, `600:a\nmine\n; 755:a\nb\n`},
		{"without a line end", `1\n2`, `1\n2\n3`, `1\n2\n4; 1\n2 my`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(moded(t, c.base))
			r.Observe(moded(t, c.agent), agents["agent"])
			want := described(r)
			require.NotEmpty(t, want)
			for way := range strings.SplitSeq(c.ways, "; ") {
				require.True(t, r.ObserveBaseline(moded(t, way)))
				require.True(t, r.Follows())
				wellFormed(t, r)
				again := reloaded(t, r)
				again.RestoreFormers(r.Formers())
				for _, f := range r.Formers() { // as who stores them
					require.Equal(t, moded(t, c.base), normal(f.Review.Baseline()))
					require.Equal(t, moded(t, c.agent), normal(f.Review.Current()))
				}
				require.Equal(t, moded(t, way), normal(r.Baseline()))
				for _, r := range []*Review{r.Copy(), again} {
					require.True(t, r.ObserveBaseline(moded(t, c.base)))
					require.Equal(t, want, described(r), way)
					require.Equal(t, moded(t, c.agent), normal(r.Current()), way)
					require.Empty(t, r.Formers())
					wellFormed(t, r)
				}
			}
		})
	}
}

// TestNotQuiteBack: the baseline's file is as it was but for a line elsewhere. The hunk has both its sides.
func TestNotQuiteBack(t *testing.T) {
	r := New(content("0\n1\n2\n3\n"))
	r.Observe(content("0\n1\n2\nthree\n"), agents["agent"])
	r.ObserveBaseline(content("0\n1\n2\n3 my\n"))
	r.ObserveBaseline(content("zero\n1\n2\n3\n"))
	require.Equal(t, `1,4 1,4: zero| 1| 2|-3|+three`, described(r))
	require.Equal(t, "zero\n1\n2\nthree\n", string(r.Current().Data))
}

// TestBackAfterDecisions: what was decided in the meantime is undone before the file is as it was.
func TestBackAfterDecisions(t *testing.T) {
	r := New(content("1\n2\n3\n4\n5\n6\n7\n8\n9\n"))
	r.Observe(content("one\n2\n3\n4\nfive\n6\n7\n8\nnine\n"), agents["agent"])
	was := r.Copy()
	r.ObserveBaseline(content("1\n2\n3\n4\n5 my\n6\n7\n8\n9\n"))
	between := described(r)
	d, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
	require.NoError(t, err)
	decided := described(r)
	r.ObserveBaseline(content("one\n2\n3\n4\n5 my\n6\n7\n8\nnein\n"))
	r.ObserveBaseline(content("one\n2\n3\n4\n5 my\n6\n7\n8\n9\n"))
	require.Equal(t, decided, described(r))
	require.NoError(t, r.Undo(d))
	require.Equal(t, between, described(r))
	require.True(t, r.ObserveBaseline(was.Baseline()))
	require.Equal(t, was.Hunks(), r.Hunks())
	require.Equal(t, was.Current(), r.Current())
}

// TestTheWayDoesNotMatter walks the baseline's file through random contents. The review is that of the last one alone.
func TestTheWayDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t, true)
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			by := m.source()
			m.r.Observe(m.content(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 14).Draw(t, "agent")), &by)
		}
		if !m.r.Pending() {
			return
		}
		base, first := m.r.Baseline(), m.r.Copy()
		for range rapid.IntRange(1, 5).Draw(t, "ways") {
			now := m.withMode(m.content(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 14).Draw(t, "way")))
			if rapid.IntRange(0, 5).Draw(t, "back") == 0 {
				now = base
			}
			if now.body() == m.r.Current().body() {
				continue // then the person has all that the copy has
			}
			once := first.Copy()
			once.ObserveBaseline(now)
			m.r.ObserveBaseline(now)
			require.Equal(t, normal(once.Current()), normal(m.r.Current()))
			require.Equal(t, described(once), described(m.r))
			wellFormed(t, m.r)
			m.r.ForgetSources(func(func(*Decision) bool) {})
		}
		m.r.ObserveBaseline(base)
		require.Equal(t, first.Hunks(), m.r.Hunks())
		require.Equal(t, normal(first.Current()), normal(m.r.Current()))
	})
}

// TestCarried: something else happens while the baseline's file differs. Once the file is as it was, the review is as if that had
// happened without the difference.
func TestCarried(t *testing.T) {
	base, agent := `1\n2\n3\n4\n5\n6\n7\n8\n9\n`, `one\n2\n3\n4\nfive\n6\n7\n8\nnine\n`
	for _, c := range []struct{ name, way, between, back, now, hunks string }{
		{"an accept beside the same place", `1\n2\n3\n4\n5 my\n6\n7\n8\n9\n`, "accept", base,
			`1\n2\n3\n4\nfive\n6\n7\n8\nnine\n`, `2,7 2,7: 2| 3| 4|-5|+five| 6| 7| 8; 6,4 6,4: 6| 7| 8|-9|+nine`},
		{"a reject beside the same place", `1\n2\n3\n4\n5 my\n6\n7\n8\n9\n`, "reject", base,
			`1\n2\n3\n4\nfive\n6\n7\n8\nnine\n`, `2,7 2,7: 2| 3| 4|-5|+five| 6| 7| 8; 6,4 6,4: 6| 7| 8|-9|+nine`},
		{"an accept while the rest is agreed", `1\n2\n3\n4\nfive\n6\n7\n8\nnine\n`, "accept", base,
			`1\n2\n3\n4\nfive\n6\n7\n8\nnine\n`, `2,7 2,7: 2| 3| 4|-5|+five| 6| 7| 8; 6,4 6,4: 6| 7| 8|-9|+nine`},
		{"a line of the agent's", `1\n2\n3\n4\n5 my\n6\n7\n8\n9\n`, `agent one\n2\nthree\n4\n5 my\nfive\n6\n7\n8\nnine\n`, base,
			`one\n2\nthree\n4\nfive\n6\n7\n8\nnine\n`, `1,2 1,2:-1|+one| 2; 2,3 2,3: 2|-3|+three| 4; 4,5 4,5: 4|-5|+five| 6| 7| 8; 6,4 6,4: 6| 7| 8|-9|+nine`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(moded(t, base))
			r.Observe(moded(t, agent), agents["agent"])
			first := r.Hunks()[0].ID
			r.ObserveBaseline(moded(t, c.way))
			if now, edit := strings.CutPrefix(c.between, "agent "); edit {
				r.Observe(moded(t, now), agents["agent"])
			} else {
				_, err := r.Decide([]uint64{first}, c.between == "accept", nil)
				require.NoError(t, err)
			}
			require.True(t, r.Follows())
			ids := pendingOf(r)
			require.True(t, r.ObserveBaseline(moded(t, c.back)))
			require.Equal(t, moded(t, c.now), normal(r.Current()))
			require.Equal(t, moded(t, c.back), normal(r.Baseline()))
			require.Equal(t, c.hunks, described(r))
			for id := range ids {
				require.Contains(t, pendingOf(r), id)
			}
			wellFormed(t, r)
			reloaded(t, r)
		})
	}
}

// TestAnAcceptOfAPart: the lines that the agent changed in a file are not a file of their own once that is gone, unless they are all of it.
func TestAnAcceptOfAPart(t *testing.T) {
	for now, want := range map[string]error{"a\nB\nc\n": ErrBaselineGone, "x\ny\n": nil} {
		r := New(file("a\nb\nc\n"))
		r.Observe(file(now), &Source{TurnID: "t", Via: ViaTool})
		r.ObserveBaseline(Content{})
		id := r.Hunks()[0].ID
		require.Equal(t, want, r.Decidable(id, true))
		require.NoError(t, r.Decidable(id, false))
		r.ObserveBaseline(file("a\nb\nc\n"))
		require.NoError(t, r.Decidable(r.Hunks()[0].ID, true))
	}
	r := New(Content{})
	r.Observe(file("new\n"), &Source{TurnID: "t", Via: ViaTool})
	r.ObserveBaseline(file("mine\n"))
	r.ObserveBaseline(Content{})
	require.NoError(t, r.Decidable(r.Hunks()[0].ID, true), "the agent has made the file")
}
