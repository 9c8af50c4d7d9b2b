//go:build unix

package authorship

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
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

// TestCommandsAmongEdits has commands and edits change one file without a pause. Each change is listed, and can be rejected.
func TestCommandsAmongEdits(t *testing.T) {
	t.Parallel()
	held := func(lines ...string) string {
		changes := map[int]string{}
		for i, l := range lines {
			if l != "" {
				changes[3*i+1] = l + "\n"
			}
		}
		return world.Numbered(12, changes)
	}
	v := held()
	sed := func(n int, text string) string { return fmt.Sprintf("sed -i '%ds/.*/%s/' f", 3*n+1, text) }
	for name, lines := range map[string][]string{
		"two edits after a command": world.Lines(
			world.Shells("s", sed(0, "zero")), world.Edits("a", "f", held("zero"), held("zero", "one")),
			world.Edits("b", "f", held("zero", "one"), held("zero", "one", "two"))),
		"after an edit of another file": world.Lines(
			world.Edits("g", "g", "(absent)", "g\n"), world.Shells("s", sed(0, "zero")), world.Edits("a", "f", held("zero"), held("zero", "one")),
			world.Edits("b", "f", held("zero", "one"), held("zero", "one", "two"))),
		"a command between two edits": world.Lines(
			world.Edits("a", "f", v, held("", "one")), world.Shells("s", sed(0, "zero")),
			world.Edits("b", "f", held("zero", "one"), held("zero", "one", "two"))),
		"two commands": world.Lines(
			world.Shells("s", sed(0, "zero")), world.Edits("a", "f", held("zero"), held("zero", "one")),
			world.Shells("t", sed(2, "two")), world.Edits("b", "f", held("zero", "one", "two"), held("zero", "one", "two", "three"))),
	} {
		for i := range 4 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", v)
				w.Commits()
				w.Start()
				e := w.Opens()
				w.Plays(lines...)
				e.Turn(nil)
				found := e.Diffs()["f"]
				require.Len(t, found.Hunks, strings.Count(w.Get("f"), "\n")-strings.Count(w.Get("f"), "line"))
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(found)})
				require.Equal(t, v, w.Get("f"))
			})
		}
	}
}

// TestACommandWithinAnEdit has a command change the file of an edit call that is open, before the call reads it.
func TestACommandWithinAnEdit(t *testing.T) {
	t.Parallel()
	v := world.Numbered(12, nil)
	byCommand, both := world.Numbered(12, map[int]string{1: "one\n"}), world.Numbered(12, map[int]string{1: "one\n", 9: "nine\n"})
	w := world.New(t)
	w.Put("f", v)
	w.Commits()
	edit := world.Edits("e", "f", byCommand, both)
	w.Plays(world.Lines(edit[:1], world.Shells("s", "sed -i '1s/.*/one/' f"), []string{
		world.Waits("ended"), world.Streams("The daemon has looked at what the command changed."), world.Waits("said"),
	}, edit[1:])...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Until("the command's end", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Tool != nil && n.Item.Tool.Name == "shell" && n.Item.Status == sessions.ItemCompleted
	})
	w.Put("../ended", "")
	e.Until("what the agent says", func(world.Notification) bool { return len(e.Said(turn.ID, sessions.ItemAssistant)) > 0 })
	w.Put("../said", "")
	e.Ends(turn.ID)
	found := e.Diffs()["f"]
	require.Equal(t, []string{"unknown", "edit"}, world.Vias(found))
	e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(found)})
	require.Equal(t, v, w.Get("f"))
}
