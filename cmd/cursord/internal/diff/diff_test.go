package diff

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestStatNamesRenamedFiles names both paths of a renamed file, as git does, and never one that is nowhere.
func TestStatNamesRenamedFiles(t *testing.T) {
	for _, c := range []struct {
		diff sessions.Diff
		want string
	}{
		{sessions.Diff{Path: "a", Kind: sessions.DiffModified, Added: 1, Removed: 1}, " a | 2 +-\n"},
		{sessions.Diff{Path: "b", OldPath: "a", Kind: sessions.DiffRenamed, Added: 1}, " a => b | 1 +\n"},
		{sessions.Diff{Path: "b", OldPath: "a", Kind: sessions.DiffRenamed}, " a => b | renamed\n"},
		{sessions.Diff{Path: "b", OldPath: "a", Kind: sessions.DiffDeleted, Removed: 2}, " a | 2 --\n"},
	} {
		require.Contains(t, stat(io.Discard, []*sessions.Diff{&c.diff}), c.want)
	}
}
