package apart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChangedInBoth: what a person had changed before a turn is in the base, also if both have changed the file since. Texts are lines of one
// letter.
func TestChangedInBoth(t *testing.T) {
	lines := func(s string) []byte { return []byte(strings.Join(append(strings.Split(s, ""), ""), "\n")) }
	for _, tt := range []struct{ name, index, person, agent, base string }{
		{"nothing changed", "abc", "abc", "abc", "abc"},
		{"the agent has only touched it", "abcde", "abXde", "abXde", "abXde"},
		{"a new line from before, the agent's elsewhere", "abcde", "aXbcde", "aXbcdE", "aXbcde"},
		{"a new line from before, the agent's beside it", "abcde", "aXbcde", "aXYbcde", "aXbcde"},
		{"a deletion from before", "abcde", "acde", "acdE", "acde"},
		{"a deletion since", "abcde", "abce", "aBcde", "abcde"},
		{"each has deleted another line", "abcde", "acde", "abce", "abcde"},
		{"a new line since", "abc", "abXc", "abcY", "abc"},
		{"all is new", "abc", "xyz", "xyZ", "xy"},
		{"empty", "", "a", "b", ""},
	} {
		require.Equal(t, string(lines(tt.base)), string(changedInBoth(lines(tt.index), lines(tt.person), lines(tt.agent))), tt.name)
	}
}
