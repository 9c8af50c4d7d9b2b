//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestDiffNamesWhatThePatchLeavesOut diffs a file with an unknown baseline, alone and beside a file that the patch contains.
func TestDiffNamesWhatThePatchLeavesOut(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{".gitignore": "*.o\n", "it's.o": "x\n", "a": "a\n"})
	w.Commits()
	w.Plays(world.Lines(world.Shells("s", "rm .gitignore; echo y >> \"it's.o\"; echo b >> a"), world.Edits("2", "../outside", "(absent)", "y\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Equal(t, "unknown", e.Diffs()["it's.o"].Baseline)
	const unknown = "it's.o (modified) is not, or not wholly, in the patch: what it was is not known, so it cannot be rejected; " +
		"accept it with: cursord accept --file 'it'\\''s.o'\n"
	outside := w.Path("../outside") + " (created) is not in the patch: it is outside of the workspace and can only be looked at, with: cursord diff --json\n"
	out, errOut, status := w.Cursord("diff")
	require.Zero(t, status)
	require.Contains(t, out, "+b\n")
	require.ElementsMatch(t, []string{unknown, outside}, strings.SplitAfter(errOut, "\n")[:2], errOut)
	out, errOut, status = w.Cursord("diff", "it's.o")
	require.Zero(t, status)
	require.Empty(t, out)
	require.Equal(t, unknown, errOut)
	_, errOut, status = w.Cursord("diff", "a")
	require.Zero(t, status)
	require.Empty(t, errOut)
	_, errOut, status = w.Cursord("accept", "--file", "it's.o")
	require.Zero(t, status, errOut)
	require.NotContains(t, e.Diffs(), "it's.o")
}
