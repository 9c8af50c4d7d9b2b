package atomicfile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestOrderKeepsChangesOfOneFile: a deletion makes room for others, but comes after an earlier change of the same file.
func TestOrderKeepsChangesOfOneFile(t *testing.T) {
	file := func(s string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(s)} }
	changes := []*Change{
		{From: "g", To: "g", Before: State{Content: file("1")}, After: file("2")},
		{From: "f", To: "f", Before: State{Content: file("1")}, After: file("2")},
		{From: "f", To: "f", Before: State{Content: file("2")}},
		{From: "h", To: "h", Before: State{Content: file("1")}},
	}
	require.Equal(t, []int{3, 0, 1, 2}, Order(len(changes), func(i int) (any, *Change) { return nil, changes[i] }))
}
