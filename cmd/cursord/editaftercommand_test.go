package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnEditRightAfterACommand has an agent edit a file under review the moment its command has ended.
func TestAnEditRightAfterACommand(t *testing.T) {
	t.Parallel()
	v0 := numbered(30, nil)
	v1 := numbered(30, map[int]string{5: "five\n"})
	v2 := numbered(30, map[int]string{5: "five\n", 20: "twenty\n"})
	for name, next := range map[string]string{"the same again": v1, "more": v2} {
		for i := range 12 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.put("f", v0)
				w.start()
				e := w.opens()
				w.plays(lines(edits("a", "f", v0, v1))...)
				e.turn(nil)
				call := edits("b", "f", v1, next)
				if i%2 == 0 {
					call[2] = `{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{"path":"{{cwd}}/f"}}}}}`
				}
				script := shells("s", "true")
				if i%3 == 0 {
					script = script[:1:1]
					script = append(script, shells("s", "true")[2])
				}
				w.plays(lines(script, call)...)
				e.turn(nil)
				for _, h := range e.diffs()["f"].Hunks {
					require.Len(t, h.Lines, 8)
				}
				e.decides("diff/reject", obj{"all": true})
				w.requireTree(tree{"f": v0})
			})
		}
	}
}
