package plaintext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChosen(t *testing.T) {
	t.Parallel()
	names := [][]string{{"a", "api"}, {"b", "The CLI"}, {"7", "2"}}
	for text, want := range map[string][]int{
		"": nil, " , ": nil, "1": {0}, "1, 3": {0, 2}, "1 3": {0, 2}, "3,1,3": {2, 0}, "API,the cli": {0, 1}, "the cli": {1}, "2": {2}, "b 7": {1, 2},
		"4": nil, "0": nil, "1, 9": nil, "all": nil, "1;3": nil, "1 and 3": nil, "api, only": nil,
	} {
		require.Equal(t, want, Chosen(text, names), text)
	}
}
