package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// TestSimilarFilesAreMoved: of files that are gone and files that have come, those that share most of their lines are one file each, unless
// another pair is as good.
func TestSimilarFilesAreMoved(t *testing.T) {
	for name, c := range map[string]struct {
		gone, came []string // a letter is a line
		turns      string   // of the files that have come; "": all of the same
		want       string   // for each of these, from which one; - for none
	}{
		"one changed line":           {gone: []string{"abcd"}, came: []string{"abxd"}, want: "0"},
		"half of its lines":          {gone: []string{"abcd"}, came: []string{"abxy"}, want: "0"},
		"less":                       {gone: []string{"abcd"}, came: []string{"axyz"}, want: "-"},
		"much longer":                {gone: []string{"ab"}, came: []string{"abcde"}, want: "-"},
		"other lines":                {gone: []string{"ab"}, came: []string{"cd"}, want: "-"},
		"the better one":             {gone: []string{"abcd"}, came: []string{"abxy", "abcx"}, want: "-0"},
		"each its own":               {gone: []string{"abcd", "efgh"}, came: []string{"efgx", "abcx"}, want: "10"},
		"a copy beside it":           {gone: []string{"abcd"}, came: []string{"abcx", "abcy", "abzz"}, want: "---"},
		"two that may have been it":  {gone: []string{"abcd", "abce"}, came: []string{"abcx"}, want: "-"},
		"the second, after the best": {gone: []string{"abcd", "abcz"}, came: []string{"abcdd", "abxz"}, want: "01"},
		"of another turn":            {gone: []string{"abcd"}, came: []string{"abcx"}, turns: "2", want: "-"},
		"empty files":                {gone: []string{""}, came: []string{""}, want: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			text := func(letters string) []byte {
				return []byte(strings.Join(append(strings.Split(letters, ""), ""), "\n"))
			}
			there := filestat.Stat{Ino: 1, Size: 8}
			var all []Change
			for i, g := range c.gone {
				all = append(all, Change{
					Path: fmt.Sprint("gone", i), Was: there, Known: true, Source: &diffs.Source{TurnID: "1"}, Before: diffs.Content{Exists: true, Data: text(g)},
				})
			}
			for i, n := range c.came {
				src := &diffs.Source{TurnID: "1"}
				if c.turns != "" {
					src.TurnID = c.turns[i : i+1]
				}
				all = append(all, Change{
					Path: fmt.Sprint("came", i), Is: there, Known: true, Source: src, After: atomicfile.State{Content: diffs.Content{Exists: true, Data: text(n)}},
				})
			}
			moved, got := map[int]bool{}, slices.Repeat([]string{"-"}, len(c.came))
			pairSimilar(all, moved, func(gone, came int) {
				all[came].From, moved[gone] = &all[gone], true
				got[came-len(c.gone)] = fmt.Sprint(gone)
			})
			require.Equal(t, c.want, strings.Join(got, ""))
		})
	}
}
