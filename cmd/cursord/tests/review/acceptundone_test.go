//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAnUndoOfAnAcceptInUnsavedText accepts in a text whose hunks were rejected before and brought back, or of which others are rejected,
// and undoes that: the hunks are pending again, and stay so when the text is saved. Once the undo did nothing, and the save accepted them.
func TestAnUndoOfAnAcceptInUnsavedText(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after := world.Numbered(12, map[int]string{3: "agent 3\n", 6: "line 6\nagent 6\n", 9: "agent 9\n"})
	for name, decide := range map[string]struct {
		play func(does func(method string, hunks ...int))
		left int
	}{
		"rejected before": {func(does func(string, ...int)) {
			does("reject")
			does("undo")
			does("accept")
		}, 3},
		"one rejected before": {func(does func(string, ...int)) {
			does("reject", 1)
			does("undo")
			does("accept", 1)
		}, 3},
		"beside a rejected one": {func(does func(string, ...int)) {
			does("reject", 0)
			does("accept", 0)
		}, 2},
		"made again": {func(does func(string, ...int)) {
			does("reject")
			does("undo")
			does("accept")
			does("undo")
			does("redo")
		}, 3},
		"alone": {func(does func(string, ...int)) { does("accept") }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			doc := e.OpenDocument("f")
			doc.Set(before + "mine\n")
			w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
			e.Turn(nil)
			e.Until("a merge is offered", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable > 0 })
			merged(e, doc)
			require.Len(t, e.Diffs()["f"].Hunks, 3)
			does := func(method string, hunks ...int) {
				params := world.Obj{}
				if method == "accept" || method == "reject" {
					params["all"] = true
				}
				for _, i := range hunks {
					params = world.Obj{"hunks": []string{world.HunkIDs(e.Diffs()["f"])[i]}}
				}
				if out := e.Decides("diff/"+method, params); len(out.Edits) > 0 {
					doc.Applies(out.Edits)
				}
				e.Diffs()
			}
			decide.play(does)
			does("undo")
			require.Len(t, e.Diffs()["f"].Hunks, decide.left)
			doc.Save()
			require.Len(t, e.Diffs()["f"].Hunks, decide.left)
			require.Len(t, w.Opens().Diffs()["f"].Hunks, decide.left)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, before+"mine\n", w.Get("f"))
		})
	}
}
