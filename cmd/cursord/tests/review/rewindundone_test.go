//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRewindAfterAnUndoneSave: a person types into a line that the agent writes again meanwhile, saves their line over the agent's, and takes that
// back. However they go on, a reject and a rewind of the turn leave their line, once.
func TestRewindAfterAnUndoneSave(t *testing.T) {
	t.Parallel()
	const old, agents, mine, again = "a\nb\nX\nc\nd\n", "a\nb\nA\nc\nd\n", "a\nb\nA # note\nc\nd\n", "a\nb\nB\nc\nd\n"
	for _, how := range []string{"reject", "rewind", "save, undo, rewind", "save, undo, reject, rewind", "save, undo, reject, undo, rewind", "reject, rewind"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", old)
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("c", "f", old, agents))...)
			first := e.Turn(world.Obj{"prompt": "one"})
			doc := e.OpenDocument("f")
			doc.Types("A\n", "A # note\n")
			w.Plays(world.Lines(world.Edits("d", "f", agents, again))...)
			second := e.Turn(world.Obj{"prompt": "two", "sessionId": first.SessionID})
			follow := func() {
				doc.Set(w.Get("f"))
				doc.Note("document/didSave", world.Obj{})
			}
			for _, step := range strings.Split("save, undo, "+how, ", ") {
				switch step {
				case "save":
					doc.Set(mine)
					e.Diffs()
					doc.Save()
					e.Diffs()
					require.Equal(t, mine, w.Get("f"))
				case "undo":
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, again, w.Get("f"))
					follow()
				case "reject":
					e.Decides("diff/reject", world.Obj{"all": true})
					require.Equal(t, mine, w.Get("f"))
					follow()
				case "rewind":
					rewinds(e, second, nil)
					require.Equal(t, mine, w.Get("f"))
					follow()
				}
			}
			require.Nil(t, e.Diffs()["f"])
		})
	}
}
