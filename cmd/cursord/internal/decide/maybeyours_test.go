package decide

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestManyThatMayBeYours has more hunks left than are worth a line each.
func TestManyThatMayBeYours(t *testing.T) {
	t.Parallel()
	var out api.Decided
	for range 25 {
		out.Skipped = append(out.Skipped, api.Skipped{Path: "no\x1b[2J", Hunk: "1.1", Kind: api.KindMaybeYours})
	}
	text := maybeYoursLeft(out)
	require.Contains(t, text, "left 25 hunks that may be yours, since they are not surely the agent's:\n")
	require.Len(t, regexp.MustCompile(`rejects it`).FindAllString(text, -1), 20)
	require.True(t, strings.HasSuffix(text, "\n  and 5 more, which \"cursord diff\" shows\n"), text)
	require.NotContains(t, text, "\x1b")
	require.Empty(t, maybeYoursLeft(api.Decided{Skipped: []api.Skipped{{Kind: api.KindConflict}}}))
}

// TestLinesAreCountedAsLines names the rest of a hunk of which lines were decided.
func TestLinesAreCountedAsLines(t *testing.T) {
	t.Parallel()
	of := func(ids ...string) []*sessions.Diff {
		d := &sessions.Diff{Path: "a.txt"}
		for _, id := range ids {
			d.Hunks = append(d.Hunks, sessions.Hunk{ID: id})
		}
		return []*sessions.Diff{d}
	}
	d := Decision{Names: []string{"24.11"}, Lines: "2-3"}
	for want, after := range map[string][]*sessions.Diff{
		"rejected 2 lines of hunk 24.11; the rest is 24.12; 2 hunks left in 1 file\n":    of("24.1", "24.12"),
		"rejected 2 lines of hunk 24.11; the rest keeps its id; 1 hunk left in 1 file\n": of("24.11"),
		"rejected 2 lines of hunk 24.11; 1 hunk left in 1 file\n":                        of("24.1"),
	} {
		var told strings.Builder
		d.tell(&told, io.Discard, api.Decided{Applied: 1, Diffs: after}, of("24.1", "24.11"), after)
		require.Equal(t, want, told.String())
	}
}

// TestNothingDecidedIsNotZeroHunks leaves the only hunk out. It said "rejected 0 hunks".
func TestNothingDecidedIsNotZeroHunks(t *testing.T) {
	t.Parallel()
	left := []*sessions.Diff{{Path: "/lib/one", Hunks: []sessions.Hunk{{ID: "1.1"}}}}
	var told, why strings.Builder
	skipped := []api.Skipped{{Path: "/lib/one", Hunk: "1.1", Kind: api.KindOutsideWorkspace}}
	Decision{All: true}.tell(&told, &why, api.Decided{Skipped: skipped}, nil, left)
	require.Equal(t, "rejected nothing; 1 hunk left in 1 file\n", told.String())
	require.Contains(t, why.String(), "not rejected: 1.1 of /lib/one")
}
