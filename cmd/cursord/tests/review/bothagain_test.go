//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAConflictThatIsOpenAgain: a conflict is rejected, the reject is taken back, and then it is decided in another way. It is decided for good,
// as if it had been decided so at once.
func TestAConflictThatIsOpenAgain(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	mine := world.Numbered(12, map[int]string{5: "mine 5\n"})
	after := world.Numbered(12, map[int]string{5: "agent 5\n", 10: "agent 10\n"})
	for name, one := range map[string]struct {
		params world.Obj
		method string
		want   string
	}{
		"both":         {world.Obj{"both": true}, "diff/accept", world.Numbered(12, map[int]string{5: "mine 5\nagent 5\n"})},
		"the agent's":  {world.Obj{}, "diff/accept", world.Numbered(12, map[int]string{5: "agent 5\n"})},
		"the person's": {world.Obj{}, "diff/reject", mine},
	} {
		for _, undone := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", after a reject"}[undone], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", before)
				w.Start()
				e := w.Opens()
				doc := &world.Document{E: e, Path: "f", Uri: "file://" + w.Path("f"), Text: before}
				doc.Note("document/didOpen", world.Obj{"text": doc.Text})
				doc.Set(mine)
				w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
				e.Turn(nil)
				conflict := func() string {
					d := e.Diffs()["f"]
					require.NotNil(t, d)
					for i := range d.Hunks {
						if d.Hunks[i].State == "conflict" {
							return d.Hunks[i].ID
						}
					}
					t.Fatalf("no conflict: %+v", d)
					return ""
				}
				id := conflict()
				if undone {
					e.Decides("diff/reject", world.Obj{"hunks": []string{id}})
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					doc.Set(doc.Text)
					id = conflict()
				}
				params := world.Obj{"hunks": []string{id}}
				for k, v := range one.params {
					params[k] = v
				}
				out := e.Decides(one.method, params)
				require.Equal(t, 1, out.Applied)
				if edits := out.Edits; len(edits) > 0 {
					doc.Applies(edits)
				}
				require.Equal(t, one.want, doc.Text)
				d := e.Diffs()["f"]
				if d == nil {
					return
				}
				for _, h := range d.Hunks {
					require.NotEqual(t, "conflict", string(h.State))
					require.NotContains(t, h.Lines, "+agent 5", "%+v", d.Hunks)
				}
			})
		}
	}
}
