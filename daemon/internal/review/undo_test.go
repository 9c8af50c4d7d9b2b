package review

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/decisionlog"
	"cursord/diffs"
)

// TestSourcesOfSettledEditsDoNotPileUp: an agent edits a file again and again, and each edit is accepted. Before, the file's
// review kept the source of every edit for good.
func TestSourcesOfSettledEditsDoNotPileUp(t *testing.T) {
	const edits = 5 * decisionlog.Max
	r := &Reviewer{}
	f := &file{path: "f", n: 7, review: diffs.New(diffs.Content{Exists: true})}
	source := func(i int) diffs.Source { return diffs.Source{SessionID: "s", TurnID: fmt.Sprint("t", i), Via: "edit"} }
	writes := func(i int) {
		src := source(i)
		require.True(t, f.review.Observe(diffs.Content{Exists: true, Data: fmt.Appendf(nil, "line %d\n", i)}, &src))
	}
	for i := range edits {
		writes(i)
		done, err := f.review.Decide([]uint64{f.review.Hunks()[0].ID}, true, nil)
		require.NoError(t, err)
		r.log.Push(&decisionlog.Group{Accept: true, Files: []decisionlog.File{{Path: f.path, N: f.n, Decision: done}}})
		r.forgetSources(f)
	}
	require.Less(t, f.review.Sources(), 3*decisionlog.Max)
	for i := range decisionlog.Max {
		last := r.log.Next(true)
		require.NoError(t, f.review.Undo(last.Files[0].Decision))
		hunks := f.review.Hunks()
		require.Len(t, hunks, 1)
		require.Contains(t, hunks[0].Sources, source(edits-1-i))
		undone := *last
		undone.Undone = true
		r.log.Replace(&undone)
	}
}
