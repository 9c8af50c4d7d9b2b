package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestPutChanges: what a call has changed is added to its item, and all else of the item stays, also its uncut tool.
func TestPutChanges(t *testing.T) {
	s := openNew(t)
	must(t, s, puts(session("s", 1), turn("t", "s", TurnRunning, 2))...)
	it := item("t", "s", 0, ItemCompleted, 3)
	it.Kind, it.Tool = ItemTool, &Tool{CallID: "c", Name: "shell", Paths: []string{}, Args: []byte(`{"command":"a <b> && c"}`)}
	must(t, s, Put{Object: it, Detail: []byte(`{"callId":"whole"}`)})
	must(t, s, Put{Object: item("t", "s", 1, ItemRunning, 4)}, AppendText{ItemID: ItemID("t", 1), Text: "kept"})

	changes := []Change{{Path: "a.go", Kind: DiffModified, Added: 1, Removed: 1, Patch: "@@ -1 +1 @@\n-<a>\n+b\n"}}
	must(t, s, PutChanges{ItemID: it.ID, Seq: 5, Changes: changes, More: 2}, PutChanges{ItemID: ItemID("t", 1), Seq: 6, Changes: changes})
	must(t, s, PutChanges{ItemID: it.ID, Seq: 5, Changes: changes, More: 2}) // again, as after a failed commit

	got, err := s.Item(it.ID)
	require.NoError(t, err)
	want := *it
	want.Changes, want.MoreChanges, want.Seq = changes, 2, 5
	require.JSONEq(t, string(want.Tool.Args), string(got.Tool.Args))
	got.Tool.Args = want.Tool.Args
	require.Equal(t, &want, got)
	detail, err := s.ItemDetail(it.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"callId":"whole"}`, string(detail))
	running, err := s.Item(ItemID("t", 1))
	require.NoError(t, err)
	require.Equal(t, "kept", running.Text)
	require.Equal(t, ItemRunning, running.Status)

	since, err := s.Changes(root, 2, 0)
	require.NoError(t, err)
	require.Len(t, since, 2, "each item once, at its newest seq")
	require.Equal(t, []uint64{5, 6}, []uint64{since[0].Seq, since[1].Seq})
	require.Contains(t, string(since[0].JSON), "-<a>", "as the daemon encodes it")

	must(t, s, PutChanges{ItemID: ItemID("t", 1), Changes: changes[:0], Open: true})
	running, err = s.Item(ItemID("t", 1))
	require.NoError(t, err)
	require.Empty(t, running.Changes)
	require.EqualValues(t, 6, running.Seq, "nobody is told of what an open call has changed")

	must(t, s, PutChanges{ItemID: ItemID("gone", 0), Seq: 7, Changes: changes})
	require.Error(t, submit(s, root, PutChanges{ItemID: "nothing", Seq: 8}))
	require.Error(t, submit(s, root, PutChanges{ItemID: it.ID}))
	require.Error(t, submit(s, root, PutChanges{ItemID: it.ID, Seq: 8, Open: true}))
}
