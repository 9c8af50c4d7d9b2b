package decide

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// TestManyThatMayBeYours has more hunks left than are worth a line each.
func TestManyThatMayBeYours(t *testing.T) {
	t.Parallel()
	var out api.Decided
	for range 25 {
		out.Skipped = append(out.Skipped, api.Skipped{Path: "no\x1b[2J", Hunk: "1.1", Kind: api.KindMaybeYours})
	}
	text := maybeYoursLeft(out)
	require.Contains(t, text, "left 25 hunks that may be yours, since no call of the agent explains them:\n")
	require.Len(t, regexp.MustCompile(`rejects it`).FindAllString(text, -1), 20)
	require.True(t, strings.HasSuffix(text, "\n  and 5 more, which \"cursord diff\" shows\n"), text)
	require.NotContains(t, text, "\x1b")
	require.Empty(t, maybeYoursLeft(api.Decided{Skipped: []api.Skipped{{Kind: api.KindConflict}}}))
}
