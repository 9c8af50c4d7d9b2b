package attempts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnswersThatDoNotFit: on a narrow terminal neither a message nor the id of a turn is cut: the answers stand below the table.
func TestAnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"#", "TURN", "ANSWER"}, {"1", "01M8HQY9P7", "the agent ended without a result"}, {"2", "01M8HQY9PG", ""}}
	for _, columns := range []int{0, 47, 80} {
		table, below := fitted(rows, columns)
		require.Equal(t, rows, table)
		require.Empty(t, below)
	}
	table, below := fitted(rows, 46)
	require.Equal(t, [][]string{{"#", "TURN"}, {"1", "01M8HQY9P7"}, {"2", "01M8HQY9PG"}}, table)
	require.Equal(t, []string{"attempt 1: the agent ended without a result"}, below)
}
