package review

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/unsaved"
	"cursord/diffs"
)

// TestSourcesOfSettledEditsDoNotPileUp: an agent edits a file again and again, and each edit is accepted. Before, the file's
// review kept the source of every edit for good.
func TestSourcesOfSettledEditsDoNotPileUp(t *testing.T) {
	const edits = 5 * decisionlog.Max
	r := &Reviewer{}
	f := &file{path: "f", n: 7, File: unsaved.File{Review: diffs.New(diffs.Content{Exists: true})}}
	source := func(i int) diffs.Source { return diffs.Source{SessionID: "s", TurnID: fmt.Sprint("t", i), Via: "edit"} }
	writes := func(i int) {
		src := source(i)
		require.True(t, f.Review.Observe(diffs.Content{Exists: true, Data: fmt.Appendf(nil, "line %d\n", i)}, &src))
	}
	for i := range edits {
		writes(i)
		done, err := f.Review.Decide([]uint64{f.Review.Hunks()[0].ID}, true, nil)
		require.NoError(t, err)
		r.log.Push(&decisionlog.Group{Accept: true, Files: []decisionlog.File{{Path: f.path, N: f.n, Decision: done}}})
		r.forgetSources(f)
	}
	require.Less(t, f.Review.Sources(), 3*decisionlog.Max)
	for i := range decisionlog.Max {
		last := r.log.Next(true)
		require.NoError(t, f.Review.Undo(last.Files[0].Decision))
		hunks := f.Review.Hunks()
		require.Len(t, hunks, 1)
		require.Contains(t, hunks[0].Sources, source(edits-1-i))
		undone := *last
		undone.Undone = true
		r.log.Replace(&undone)
	}
}
