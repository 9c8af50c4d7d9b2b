package threeway

import (
	"flag"
	"strings"
	"testing"

	"cursord/diffs"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

func text(words string) string {
	if words == "" {
		return ""
	}
	return strings.ReplaceAll(words, " ", "\n") + "\n"
}

func TestMerges(t *testing.T) {
	for _, c := range []struct {
		name, base, disk, text string
		together               []Span
		want, known            string
		offered, conflicts     int
	}{
		{"nothing has changed", "a b c", "a b c", "a b c", nil, "a b c", "a b c", 0, 0},
		{"only the text has", "a b c", "a b c", "a x c", nil, "a x c", "a b c", 0, 0},
		{"only the disk has", "a b c", "a x c", "a b c", nil, "a x c", "a b c", 1, 0},
		{"other lines", "a b c d", "A b c d", "a b c D", nil, "A b c D", "a b c d", 1, 0},
		{"the line beside", "a b c", "A b c", "a B c", nil, "A B c", "a b c", 1, 0},
		{"the same line", "a b c", "a X c", "a Y c", nil, "a Y c", "a b c", 0, 1},
		{"the same change", "a b c", "a X c", "a X c", nil, "a X c", "a X c", 0, 0},
		{"the same insertion, and typed behind it", "a b", "a X b", "a X Y b", nil, "a X Y b", "a X b", 0, 0},
		{"the same change, and typed at its other edge", "a b c", "a X c", "n a X c", nil, "n a X c", "a X c", 0, 0},
		{"the same change of the line behind one that is typed over", "a b c", "a X c", "n N X c", nil, "n N X c", "a X c", 0, 0},
		{"a deletion that is taken back elsewhere", "a b c d", "a c d", "a b c D", nil, "a c D", "a b c d", 1, 0},
		{"the same change, and typed inside it", "a b c", "a X Z c", "a X n Z c", nil, "a X n Z c", "a X Z c", 0, 0},
		{"both insert at one place", "a b", "a X b", "a Y b", nil, "a Y b", "a b", 0, 1},
		{"one deletes what the other changes", "a b c", "a c", "a Y c", nil, "a Y c", "a b c", 0, 1},
		{"one deletes more than the other changes", "a b c d", "a d", "a b Y d", nil, "a b Y d", "a b c d", 0, 1},
		{"both delete", "a b c", "a c", "a c", nil, "a c", "a c", 0, 0},
		{"a line of a change, inserted at its edge", "a b c", "a X Y c", "a b Y c", nil, "a b Y c", "a b c", 0, 1},
		{"a blank line of a change, inserted at its edge", "a b c", "a X  c", "a b  c", nil, "a X   c", "a b c", 1, 0},
		{"an insertion at the edge of a change", "a b c", "a X c", "a b n c", nil, "a X n c", "a b c", 1, 0},
		{"a hunk of which a part conflicts", "a b c d", "A b C d", "a b Y d", []Span{{0, 3}}, "a b Y d", "a b c d", 0, 1},
		{"a hunk of which nothing conflicts", "a b c d", "A b C d", "a b c Y", []Span{{0, 3}}, "A b C Y", "a b c d", 2, 0},
		{"an empty base", "", "X", "Y", nil, "Y", "", 0, 1},
		{"all is gone on disk", "a b", "", "a b", nil, "", "a b", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Of(text(c.base), text(c.disk), text(c.text), c.together)
			require.Equal(t, text(c.want), m.Text)
			require.Equal(t, text(c.known), m.Known)
			require.Equal(t, c.offered, m.Offered)
			require.Len(t, m.Conflicts, c.conflicts)
		})
	}
}

func TestLinesAreNotGlued(t *testing.T) {
	m := Of("a\nb\n", "a\nb\nc\n", "a\nb", nil)
	require.Equal(t, "a\nb\nc\n", m.Text)
	m = Of("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\r\nb", nil)
	require.Equal(t, "a\r\nb\r\nc\r\n", m.Text)
	require.Equal(t, "a\nx\ny", Replace("a\nb", Span{1, 2}, "x", "y"))
}

// TestNobodysLinesAreLost merges random texts: a person's line is in the result as often as before, a line of the disk is in
// it or in a reported place, and a second merge changes nothing.
func TestNobodysLinesAreLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "}", ""})
		base := rapid.SliceOfN(word, 0, 10).Draw(t, "base")
		changed := func(who string) []string {
			var out []string
			for i := 0; i <= len(base); i++ {
				for n := range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, who+" adds") {
					out = append(out, who+string(rune('a'+n)))
				}
				if i < len(base) && !rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, who+" deletes") {
					out = append(out, base[i])
				}
			}
			return out
		}
		join := func(lines []string) string {
			s := strings.Join(lines, "\n")
			if len(lines) > 0 && rapid.Bool().Draw(t, "ends") {
				s += "\n"
			}
			return s
		}
		b, d, x := join(base), join(changed("disk ")), join(changed("mine "))
		var together []Span
		if n := len(lines(d)); n > 0 && rapid.Bool().Draw(t, "together") {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			together = append(together, Span{from, rapid.IntRange(from, n).Draw(t, "to")})
		}
		m := Of(b, d, x, together)
		count := func(s, who string) map[string]int {
			n := map[string]int{}
			for _, l := range lines(s) {
				if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, who) {
					n[l]++
				}
			}
			return n
		}
		require.Equal(t, count(x, "mine"), count(m.Text, "mine"))
		theirs := count(m.Text, "disk")
		for _, c := range m.Conflicts {
			for l, n := range count(strings.Join(Lines(d, c.Disk), ""), "disk") {
				theirs[l] += n
			}
		}
		for l, n := range count(d, "disk") {
			require.GreaterOrEqual(t, theirs[l], n, "%q", l)
		}
		again := Of(m.Then, d, m.Text, together)
		require.Equal(t, count(x, "mine"), count(again.Text, "mine"))
		if len(m.Conflicts) == 0 {
			require.Equal(t, m.Text, again.Text)
			require.Zero(t, again.Offered)
			require.Empty(t, again.Conflicts)
		}
	})
}

// TestWhatBothKnow follows the common text of an editor and a file that an agent changes again and again.
func TestWhatBothKnow(t *testing.T) {
	b := New(text("a b c d"))
	b.See(text("A b c d"), text("a b c mine"), nil)
	require.Equal(t, 1, b.Offered)
	merged := b.Send()
	require.Equal(t, text("A b c mine"), merged)
	b.See(text("A b c d"), merged+"typed\n", nil)
	require.Zero(t, b.Offered, "typed behind it")
	require.Equal(t, text("A b c d"), b.Known)

	b.See(text("A b c d"), text("a b c mine"), nil)
	require.Zero(t, b.Offered, "what the editor's undo has taken out is not offered again")

	b.See(text("A b C D"), text("a b c mine"), []Span{{2, 4}})
	require.Len(t, b.Conflicts, 1)
	b.Send()
	b.See(text("A b C D"), text("a b c mine"), []Span{{2, 4}})
	require.Len(t, b.Conflicts, 1, "a conflict is not decided by a merge")
	b.Resolve(b.Conflicts[0], text("A b C D"))
	b.See(text("A b C D"), text("a b c mine"), []Span{{2, 4}})
	require.Empty(t, b.Conflicts)
}

func TestBases(t *testing.T) {
	before, disk := text("a b c"), text("a X c")
	for _, c := range []struct {
		name, text string
		known      bool
		want       string
	}{
		{"typed over what the agent wrote over", "a Y c", true, before},
		{"typed elsewhere", "a b mine", true, before},
		{"the editor has read the disk", "a X mine", true, disk},
		{"typed over something, and nothing is known", "a Y c", false, disk},
		{"typed in a line that the agent wrote over, and nothing is known", "a bmine c", false, before},
		{"typed in the agent's line, and nothing is known", "a Xmine c", false, disk},
		{"typed elsewhere, and nothing is known", "a b mine", false, before},
		{"the editor has the agent's, and nothing is known", "a X mine", false, disk},
	} {
		t.Run(c.name, func(t *testing.T) {
			var known *string
			if c.known {
				known = &before
			}
			require.Equal(t, c.want, Base(known, before, disk, text(c.text)))
		})
	}
}

func TestAMergeThatWasNotMade(t *testing.T) {
	b := New(text("a b c d"))
	b.See(text("A b c d"), text("a b c mine"), nil)
	b.Send()
	b.See(text("A b c d"), text("a b c mine more"), nil)
	require.Equal(t, 1, b.Offered, "it is offered again")
}

// TestMoved moves spans along with edits of their text.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name     string
		was, now string
		span     Span
		want     Span
		touched  bool
	}{
		{"nothing", "a b c", "a b c", Span{1, 2}, Span{1, 2}, false},
		{"lines in front", "a b c", "x y a b c", Span{1, 2}, Span{3, 4}, false},
		{"lines in front go", "a b c", "b c", Span{1, 2}, Span{0, 1}, false},
		{"lines behind", "a b c", "a b c x", Span{1, 2}, Span{1, 2}, false},
		{"right in front", "a b c", "a x b c", Span{1, 2}, Span{2, 3}, false},
		{"right behind", "a b c", "a b x c", Span{1, 2}, Span{1, 2}, false},
		{"inside", "a b c d", "a b x c d", Span{1, 3}, Span{1, 4}, true},
		{"it becomes another", "a b c", "a x y c", Span{1, 2}, Span{1, 3}, true},
		{"it goes", "a b c", "a c", Span{1, 2}, Span{1, 1}, true},
		{"without lines, and some come", "a c", "a b c", Span{1, 1}, Span{1, 2}, true},
		{"without lines, and the one in front becomes another", "a c", "x y c", Span{1, 1}, Span{2, 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, touched := Moved(c.span, diffs.LineEdits(text(c.was), text(c.now)))
			require.Equal(t, c.want, got)
			require.Equal(t, c.touched, touched)
		})
	}
}

func TestATextWithTypingInARestoredLineIsNearerToTheRestoredOne(t *testing.T) {
	t.Parallel()
	restored, agents := "a\nname = \"x\"\nb\n", "a\nname = \"/tmp/x\"\nb\n"
	require.True(t, Nearer("a\nname = \"x\" # mine\nb\n", restored, agents))
	require.False(t, Nearer("a\nname = \"/tmp/x\" # mine\nb\n", restored, agents))
	require.False(t, Nearer(agents, restored, agents))
	require.False(t, Nearer(restored, restored, restored))
}
