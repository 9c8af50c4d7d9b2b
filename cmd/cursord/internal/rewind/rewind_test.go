package rewind

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNames: a preview names a few prompts, each on a line of a terminal, and counts the others. It said only how many turns go.
func TestNames(t *testing.T) {
	t.Parallel()
	asked := map[string]string{"1": "one\n\ttwo\x1b", "2": strings.Repeat("x", 200), "3": "3", "4": "4", "5": "5", "6": "6", "7": "7"}
	require.Equal(t, "  > one two␛\n  > "+strings.Repeat("x", nameCells-1)+"…\n", names([]string{"1", "2"}, asked))
	require.Equal(t, "  > 3\n  > 4\n  > 5\n  > 6\n  > 7\n", names([]string{"3", "4", "5", "6", "7"}, asked))
	require.True(t, strings.HasSuffix(names([]string{"1", "2", "3", "4", "5", "6", "7"}, asked), "\n  > 5\n  … and 2 more\n"))
}
