package diffshape

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestConflictsAreInOrder: a conflict comes before a hunk whose first changed line is below it, although the hunk's context begins above.
func TestConflictsAreInOrder(t *testing.T) {
	d := &sessions.Diff{Hunks: []sessions.Hunk{
		{ID: "1.9", Kind: "file"},
		{ID: "1.2", Kind: "text", NewStart: 3, Lines: []string{" 3", " 4", " 5", "+agent", " 6"}},
		{ID: "1.3", Kind: "text", NewStart: 7, Lines: []string{" 7", "-8", "+agent", " 9"}},
	}}
	AddConflicts(d, []sessions.Hunk{{ID: "1.1", Kind: "text", State: "conflict", OldStart: 3, Lines: []string{"-mine", "+agent"}}})
	var order []string
	for _, h := range d.Hunks {
		order = append(order, h.ID)
	}
	require.Equal(t, []string{"1.9", "1.1", "1.2", "1.3"}, order)
	require.Equal(t, []int{3, 2}, []int{d.Added, d.Removed})
}
