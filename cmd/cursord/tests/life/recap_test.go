//go:build unix

package life

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
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

// TestAForkKnowsTheReview: what was rejected or is pending of its transcript was not said to a fork.
func TestAForkKnowsTheReview(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	for _, name := range []string{"kept", "no", "later"} {
		w.Put(name, "a\n")
	}
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "kept", "a\n", "agent\n"), world.Edits("d", "no", "a\n", "unwanted\n"))...)
	first := e.Turn(nil)
	e.Decides("diff/reject", world.Obj{"path": "no"})
	w.Plays(world.Lines(world.Edits("c", "later", "a\n", "agent\n"))...)
	e.Turn(world.Obj{"sessionId": first.SessionID})
	w.Plays(world.InitLine, world.Succeeds("Done."))

	const rejected = "- the user rejected your change of no, line 1\n  -a\n  +unwanted\n</transcript>"
	const pending = "[review]\n- The user has not decided yet on 1 hunk in kept.\n"
	half := forks(e, world.Obj{"sessionId": first.SessionID, "turnId": first.ID})
	again := forks(e, world.Obj{"sessionId": half.ID})
	for _, fork := range []*sessions.Session{half, again} {
		require.Contains(t, told(w, e, world.Obj{"sessionId": fork.ID}), pending+rejected)
	}
	whole := forks(e, world.Obj{"sessionId": first.SessionID})
	e.Must("session/delete", world.Obj{"sessionId": first.SessionID}, nil)
	require.Contains(t, told(w, e, world.Obj{"sessionId": whole.ID}), pending+"- The user has not decided yet on 1 hunk in later.\n"+rejected)
}

// TestAForkDoesNotHaveTheOtherCopy: the agent of a fork was told of edits, and not that they are only in the copy of the other session.
func TestAForkDoesNotHaveTheOtherCopy(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("notes.txt", "a\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "notes.txt", "a\n", "agent\n"))...)
	session := e.Isolates()
	e.Ok(session)
	w.Plays(world.InitLine, world.Succeeds("Done."))
	const elsewhere = "[review]\n- Not here, but in the copy of the session that this one was forked from: 1 hunk in notes.txt.\n</transcript>"
	for _, isolation := range []string{"copy", "none"} {
		fork := forks(e, world.Obj{"sessionId": session.ID, "isolation": isolation})
		require.Contains(t, told(w, e, world.Obj{"sessionId": fork.ID}), elsewhere)
	}
	require.Contains(t, told(w, e, world.Obj{"sessionId": session.ID, "recap": true}), "[review]\n- The user has not decided yet on 1 hunk in notes.txt.\n</transcript>")
	w.Plays(world.Lines(world.Edits("c", "notes.txt", "agent\n", "more\n"))...)
	e.Ok(session)
	e.Decides("diff/accept", world.Obj{"path": "notes.txt"})
	fork := forks(e, world.Obj{"sessionId": session.ID})
	require.NotContains(t, told(w, e, world.Obj{"sessionId": fork.ID}), "[review]", "the new copy has it")
}

// TestWorkWhoseTurnsAreGoneIsTold: after a rewind of all turns, and its undo, the next prompt had nothing of the hunks that are pending again.
func TestWorkWhoseTurnsAreGoneIsTold(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.go", "a\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "a.go", "a\n", "agent\n"))...)
	turn := e.Turn(nil)
	e.Must("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}, nil)
	w.Plays(world.InitLine, world.Succeeds("Done."))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "agent\n", w.Get("a.go"))
	text := told(w, e, world.Obj{"sessionId": turn.SessionID, "prompt": "go on"})
	require.Equal(t, "<context>\n<transcript>\n[review]\n- The user has not decided yet on 1 hunk in a.go.\n</transcript>\n</context>\n\ngo on", text)
}
