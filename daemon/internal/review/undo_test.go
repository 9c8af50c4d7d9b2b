package review

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/unsaved"
	"cursord/diffs"
)

// TestSourcesOfSettledEditsDoNotPileUp: an agent edits a file again and again, and each edit is accepted. The review keeps the source of an
// edit only while its history knows the edit, or a decision about it can be undone.
func TestSourcesOfSettledEditsDoNotPileUp(t *testing.T) {
	const edits = 3 * decisionlog.Max
	source := func(i int) diffs.Source { return diffs.Source{SessionID: "s", TurnID: fmt.Sprint("t", i), Via: "edit"} }
	for name, known := range map[string]bool{"the history is kept": true, "the history is dropped": false} {
		t.Run(name, func(t *testing.T) {
			r := &Reviewer{}
			f := &file{path: "f", n: 7, File: unsaved.File{Review: diffs.New(diffs.Content{Exists: true})}}
			for i := range edits {
				src := source(i)
				require.True(t, f.Review.Observe(diffs.Content{Exists: true, Data: fmt.Appendf(nil, "line %d\n", i)}, &src))
				done, err := f.Review.Decide([]uint64{f.Review.Hunks()[0].ID}, true, nil)
				require.NoError(t, err)
				r.log.Push(&decisionlog.Group{Accept: true, Files: []decisionlog.File{{Path: f.path, N: f.n, Decision: done}}})
				if !known {
					f.Review.ForgetHistory()
				}
				r.forgetSources(f)
			}
			if known {
				require.Equal(t, edits, f.Review.Sources(), "a rewind can go back to before the first edit")
			} else {
				require.Less(t, f.Review.Sources(), 3*decisionlog.Max)
			}
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
		})
	}
}
