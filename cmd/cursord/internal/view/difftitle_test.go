package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestDiffTitle says what became of a link, and why a large file has no lines.
func TestDiffTitle(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]*sessions.Diff{
		`l (symlink, now a link to "a")`:                                             {Path: "l", Kind: sessions.DiffSymlink, NewTarget: "a"},
		`l (symlink, was a link to "a")`:                                             {Path: "l", Kind: sessions.DiffSymlink, OldTarget: "a"},
		`l (symlink, link "a" → "b")`:                                                {Path: "l", Kind: sessions.DiffSymlink, OldTarget: "a", NewTarget: "b"},
		"l (large, decided as a whole: see the settings large_lines and large_size)": {Path: "l", Kind: sessions.DiffLarge},
	} {
		require.Equal(t, want, DiffTitle(false, d))
	}
}
