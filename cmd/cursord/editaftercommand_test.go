package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnEditRightAfterACommand has an agent edit a file under review the moment its command has ended.
func TestAnEditRightAfterACommand(t *testing.T) {
	t.Parallel()
	v0 := Numbered(30, nil)
	v1 := Numbered(30, map[int]string{5: "five\n"})
	v2 := Numbered(30, map[int]string{5: "five\n", 20: "twenty\n"})
	for name, next := range map[string]string{"the same again": v1, "more": v2} {
		for i := range 12 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				w := New(t)
				w.Put("f", v0)
				w.Start()
				e := w.Opens()
				w.Plays(Lines(Edits("a", "f", v0, v1))...)
				e.Turn(nil)
				call := Edits("b", "f", v1, next)
				if i%2 == 0 {
					call[2] = `{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{"path":"{{cwd}}/f"}}}}}`
				}
				script := Shells("s", "true")
				if i%3 == 0 {
					script = script[:1:1]
					script = append(script, Shells("s", "true")[2])
				}
				w.Plays(Lines(script, call)...)
				e.Turn(nil)
				for _, h := range e.Diffs()["f"].Hunks {
					require.Len(t, h.Lines, 8)
				}
				e.Decides("diff/reject", Obj{"all": true})
				w.RequireTree(Tree{"f": v0})
			})
		}
	}
}
