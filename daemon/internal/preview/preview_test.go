package preview

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestPatchOfSeveralTrees: a file that changes in the work tree and in a copy is in the patch once, as it changes most: the copy loses pending
// lines, too, which the work tree does not have.
func TestPatchOfSeveralTrees(t *testing.T) {
	text := func(s string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(s), Mode: 0o644} }
	work := Change{From: "f", To: "f", Before: text("1\naccepted\n2\n"), After: text("1\n2\n")}
	apart := Change{Tree: "s", From: "f", To: "f", Before: text("1\naccepted\n2\npending\n"), After: text("1\n2\n")}
	whole := Patch(diffs.Limits{}, []Change{apart})
	require.Contains(t, whole, "-accepted\n")
	require.Contains(t, whole, "-pending\n")
	require.Equal(t, whole, Patch(diffs.Limits{}, []Change{work, apart}))
	require.Equal(t, whole, Patch(diffs.Limits{}, []Change{apart, work}))
	same := apart
	same.Before = text("0\n1\naccepted\n2\n")
	same.After = text("0\n1\n2\n")
	require.Equal(t, Patch(diffs.Limits{}, []Change{work}), Patch(diffs.Limits{}, []Change{work, same}), "of as much, the first one")
	moved := Change{From: "f", To: "g", Before: text("1\n2\n"), After: text("1\n2\n")}
	require.Equal(t, Patch(diffs.Limits{}, []Change{moved}), Patch(diffs.Limits{}, []Change{moved, apart}), "what an earlier tree moves is there")
}
