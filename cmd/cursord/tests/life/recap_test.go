//go:build unix

package life

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// told starts a turn, and returns the prompt that its agent has got.
func told(w *world.World, e *world.Editor, params world.Obj) string {
	e.Turn(params)
	runs := w.Runs()
	return runs[len(runs)-1].Prompt
}

// TestARecapHasCommentsThatWereSent: the agent had got a comment on a pending hunk with a prompt of its chat, and a recap did not have it.
func TestARecapHasCommentsThatWereSent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "a\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "a.go", "a\n", "7\n"))...)
	session := e.Turn(nil).SessionID
	const said = "on your change of a.go, line 1: please name the constant"
	e.Must("diff/comment", world.Obj{"workspace": w.Root, "hunk": e.Diffs()["a.go"].Hunks[0].ID, "text": "please name the constant"}, nil)
	w.Plays(world.InitLine, world.Succeeds("Done."))
	require.Contains(t, told(w, e, world.Obj{"sessionId": session}), "<remarks>\n- "+said+"\n</remarks>")
	require.NotContains(t, told(w, e, world.Obj{"sessionId": session}), said)
	const held = "[review]\n- The user has not decided yet on 1 hunk in a.go.\n- " + said + "\n</transcript>"
	require.Contains(t, told(w, e, world.Obj{"sessionId": session, "recap": true}), held)
	w.Kill()
	w.Start()
	e = w.Opens()
	require.Contains(t, told(w, e, world.Obj{"sessionId": session, "recap": true}), held)
	require.Equal(t, "there is nothing to undo in "+w.Root, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Message, "no decision was made")

	// One that waits for the next prompt is said once, in the remarks.
	e.Must("diff/comment", world.Obj{"workspace": w.Root, "hunk": e.Diffs()["a.go"].Hunks[0].ID, "text": "and test it"}, nil)
	text := told(w, e, world.Obj{"sessionId": session, "recap": true})
	require.Contains(t, text, held)
	require.Equal(t, 1, strings.Count(text, "and test it"))
}
