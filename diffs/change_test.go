package diffs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChange: the hunks of a change make the new content of the old one. A change that is too long has whole hunks, or the first lines.
func TestChange(t *testing.T) {
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		side := func() string {
			var b strings.Builder
			for range r.IntN(40) {
				fmt.Fprint(&b, r.IntN(3), []string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)])
			}
			return strings.TrimSuffix(b.String(), []string{"", "\n"}[r.IntN(2)])
		}
		old, now := side(), side()
		c := Limits{}.Change(text(old), text(now), 1<<20)
		require.False(t, c.Cut)
		if c.Hunks == "" {
			require.Equal(t, old, now)
			continue
		}
		tree := map[string]node{"f": {"100644", old}}
		require.NoError(t, gitApply(tree, "diff --git a/f b/f\n--- a/f\n+++ b/f\n"+c.Hunks, false), "%q → %q\n%s", old, now, c.Hunks)
		require.Equal(t, now, tree["f"].data)
		require.Equal(t, c.Added, strings.Count("\n"+c.Hunks, "\n+"))
	}

	require.Equal(t, Change{Kind: Created, Added: 2, Hunks: "@@ -0,0 +1,2 @@\n+a\n+b\n"}, Limits{}.Change(Content{}, text("a\nb\n"), 99))
	require.Equal(t, Change{Kind: Deleted, Removed: 1, Hunks: "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"}, Limits{}.Change(text("a"), Content{}, 99))
	require.Equal(t, Change{Kind: Created}, Limits{}.Change(Content{}, text(""), 99))
	require.Equal(t, Change{Kind: Binary}, Limits{}.Change(text("a\n"), text("\x00"), 99))
	require.Equal(t, Change{Kind: Large}, Limits{MaxLines: 1}.Change(text("a\n"), text("a\nb\n"), 99))
	require.Equal(t, Change{Kind: Mode}, Limits{}.Change(Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}, Content{Exists: true, Data: []byte("a\n"), Mode: 0o755}, 99))
	require.Equal(t, Change{
		Kind: Symlink, Added: 1, Removed: 1, Hunks: "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n",
	}, Limits{}.Change(Content{Exists: true, Target: "x"}, Content{Exists: true, Target: "y"}, 99))

	lines := func(at ...int) Content {
		var b strings.Builder
		for i := range 100 {
			word := "line"
			for _, n := range at {
				if i == n {
					word = "changed"
				}
			}
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return text(b.String())
	}
	c := Limits{}.Change(lines(), lines(10, 50, 90), 200)
	require.True(t, c.Cut)
	require.Equal(t, 2, strings.Count(c.Hunks, "@@\n"), "whole hunks")
	require.Equal(t, []int{3, 3}, []int{c.Added, c.Removed}, "all of it is counted")
	require.LessOrEqual(t, len(c.Hunks), 200)

	c = Limits{}.Change(Content{}, lines(), 200)
	require.Equal(t, Change{Kind: Created, Added: 100, Cut: true, Hunks: "@@ -0,0 +1,9 @@\n" + "+" + strings.Join([]string{
		"line 0", "line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "line 7", "line 8",
	}, "\n+") + "\n"}, c)
	require.Empty(t, Limits{}.Change(Content{}, text(strings.Repeat("x", 300)), 200).Hunks)
}

// BenchmarkChange: what a call has changed in a large file, and in a file of a usual size.
func BenchmarkChange(b *testing.B) {
	base, now, _ := large()
	small := func(c Content) Content { return Content{Exists: true, Data: c.Data[:20_000]} }
	one := Content{Exists: true, Data: []byte(strings.Replace(string(base.Data), "line 77 ", "my line ", 1))}
	for _, c := range []struct {
		name        string
		before, now Content
	}{{"one line of 100k", base, one}, {"1000 lines of 100k", base, now}, {"100k lines made", Content{}, now}, {"usual", small(base), small(now)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Limits{}.Change(c.before, c.now, 64<<10)
			}
		})
	}
}
