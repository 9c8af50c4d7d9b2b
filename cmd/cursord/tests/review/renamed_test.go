//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRewindAndExportOfARenamedFile: a person has given a file another name after the accept. A rewind takes its lines back there, and an
// export names it so.
func TestRewindAndExportOfARenamedFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n2\n3\n")
	w.Commits()
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/2/two/ f; seq 20 29 >made")...)
	turn := e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Git("add", ".")
	w.Git("commit", "-qm", "theirs")
	w.Git("mv", "made", "other")
	w.Git("mv", "f", "g")
	w.Git("commit", "-qm", "renamed")
	text := w.CursordOK("export", turn.SessionID, "--format", "ndjson")
	require.Contains(t, text, `{"written":{"path":"g",`)
	require.Contains(t, text, `{"written":{"path":"other",`)
	require.NotContains(t, text, `{"written":{"path":"f",`)
	require.NotContains(t, text, `{"written":{"path":"made",`)
	out := rewinds(e, turn, nil)
	require.Empty(t, out.Skipped)
	require.Equal(t, "1\n2\n3\n", w.Get("g"))
	require.Equal(t, "(absent)", w.Get("other"))
}

// TestRewindOfARenamedFileIsKnownAtTheNextDaemon: what a rewind had left of a file that a person had renamed was not stored. The next daemon did not
// know the file where the person moves it then.
func TestRewindOfARenamedFileIsKnownAtTheNextDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", sixLines)
	w.Rests()
	w.Start()
	e := w.Opens()
	w.Plays(world.Edits("c1", "f", sixLines, agentOnce)...)
	first := e.Turn(nil)
	w.Plays(world.Edits("c2", "f", agentOnce, agentMore)...)
	second := e.Turn(world.Obj{"sessionId": first.SessionID})
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Makes("mv f g")
	require.Empty(t, rewinds(e, second, nil).Skipped)
	require.Equal(t, agentOnce, w.Get("g"))
	w.Kill()
	w.Makes("mv g h; echo mine >>h")
	w.Start()
	e = w.Opens()
	require.Empty(t, rewinds(e, first, nil).Skipped)
	require.Equal(t, sixLines+"mine\n", w.Get("h"))
}
