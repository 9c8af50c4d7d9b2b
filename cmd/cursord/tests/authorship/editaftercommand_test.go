//go:build unix

package authorship

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAnEditRightAfterACommand has an agent edit a file under review the moment its command has ended.
func TestAnEditRightAfterACommand(t *testing.T) {
	t.Parallel()
	v0 := world.Numbered(30, nil)
	v1 := world.Numbered(30, map[int]string{5: "five\n"})
	v2 := world.Numbered(30, map[int]string{5: "five\n", 20: "twenty\n"})
	for name, next := range map[string]string{"the same again": v1, "more": v2} {
		for i := range 12 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", v0)
				w.Start()
				e := w.Opens()
				w.Plays(world.Lines(world.Edits("a", "f", v0, v1))...)
				e.Turn(nil)
				call := world.Edits("b", "f", v1, next)
				if i%2 == 0 {
					call[2] = `{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{"path":"{{cwd}}/f"}}}}}`
				}
				script := world.Shells("s", "true")
				if i%3 == 0 {
					script = script[:1:1]
					script = append(script, world.Shells("s", "true")[2])
				}
				w.Plays(world.Lines(script, call)...)
				e.Turn(nil)
				for _, h := range e.Diffs()["f"].Hunks {
					require.Len(t, h.Lines, 8)
				}
				out := e.Decides("diff/reject", world.Obj{"all": true})
				if i%2 == 0 && len(out.Skipped) > 0 { // the call has neither time nor texts, so its edit may be a person's: the hunk must be named
					require.Equal(t, "maybeYours", string(out.Skipped[0].Kind))
					e.Decides("diff/reject", world.Obj{"hunks": []string{out.Skipped[0].Hunk}})
				} else {
					require.Empty(t, out.Skipped)
				}
				w.RequireTree(world.Tree{"f": v0})
			})
		}
	}
}
