package view

import (
	"strings"
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
		"s (created, mode 100755)":                                                   {Path: "s", Kind: sessions.DiffCreated, NewMode: "100755"},
		"s (mode, mode 100644 → 100755)":                                             {Path: "s", Kind: sessions.DiffMode, OldMode: "100644", NewMode: "100755"},
	} {
		require.Equal(t, want, DiffTitle(false, d))
	}
}

// TestPatch has the colours of "cursord diff", and takes no line of a file for one of the patch.
func TestPatch(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\x1b[2J\n\\ No newline at end of file\ndiff --git a/g b/g\nold mode 100644\n"
	require.Equal(t, "\x1b[1mdiff --git a/f b/f\x1b[0m\nindex 1..2 100644\n\x1b[1m--- a/f\x1b[0m\n\x1b[1m+++ b/f\x1b[0m\n\x1b[36m@@ -1,3 +1,3 @@\x1b[0m\n"+
		" a\n\x1b[31m--- b\x1b[0m\n\x1b[32m+++ c␛[2J\x1b[0m\n\\ No newline at end of file\n\x1b[1mdiff --git a/g b/g\x1b[0m\nold mode 100644\n", Patch(true, patch))
	require.Equal(t, "diff --git a/f b/f\n", Patch(false, "diff --git a/f b/f\n"))
}

// TestDiffsOnAScreen: what is said of a hunk is broken between words, also in the text that a pager gets. Lines of code are whole.
func TestDiffsOnAScreen(t *testing.T) {
	long := "+" + strings.Repeat("x", 100)
	h := sessions.Hunk{ID: "1.2", OldStart: 1, NewStart: 1, NewLines: 2, Lines: []string{"+a person's line", long}, Beside: []int{0}}
	var text strings.Builder
	PrintDiffs(&text, false, 60, []*sessions.Diff{{Path: "f", Kind: sessions.DiffModified, Hunks: []sessions.Hunk{h}}})
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSuffix(line, "\n")
		require.True(t, line == long || len(line) <= 60, line)
	}
	require.Contains(t, text.String(), "the work tree has changed here, too,")
	require.Contains(t, text.String(), long)
}
