//go:build unix

package authorship

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestWhyOfLinesInDoubt: lines of which the review says that they may be a person's were an agent's for why. The doubt stays after an accept, a
// restart, a commit, and an export and import.
func TestWhyOfLinesInDoubt(t *testing.T) {
	t.Parallel()
	const doubt = "-----------m--------"
	w := world.New(t)
	w.Put("base", "")
	w.Commits()
	w.PlaysUnexplained()
	w.Git("add", ".")
	w.Git("commit", "-q", "-m", "before")
	w.Start()
	e := w.Opens()
	turn := e.Turn(world.Obj{"prompt": "second"})
	require.Equal(t, []string{"unknown"}, world.Vias(e.Diffs()["notes.txt"]))

	said := func(state string) {
		t.Helper()
		require.Equal(t, doubt, sourcesOf(w, e, "notes.txt"))
		require.Equal(t, "-a------------a-----", sourcesOf(w, e, "f"))
		text := w.CursordOK("why", "notes.txt:12", "-w", w.Root)
		require.True(t, strings.HasPrefix(text, "notes.txt:12  may be yours: it is not surely the agent's; "+state+"\n"), text)
		require.Contains(t, text, "  > second\n", "the turn of which it may be")
		require.Contains(t, w.CursordOK("why", "f:2", "-w", w.Root), "f:2  an agent's, "+state+"\n")
		whole := w.CursordOK("why", "notes.txt", "-w", w.Root)
		require.Regexp(t, `(?m)^\?\S+ \S+ second +12  twelve$`, whole)
		require.True(t, strings.HasSuffix(whole, "\n? may be yours: it is not surely the agent's\n"), whole)
		require.NotContains(t, w.CursordOK("why", "f", "-w", w.Root), "?")
	}
	said("pending")
	e.Decides("diff/accept", world.Obj{"all": true})
	said("accepted")
	w.Kill()
	w.Start()
	e = w.Opens()
	said("accepted")

	w.Git("commit", "-q", "-m", "in doubt", "notes.txt")
	require.Regexp(t, `(?m)^1 line  may be yours: it is not surely the agent's  \S+ \S+  session \S+  turn \S+\n  > second\n  notes.txt:12$`,
		w.CursordOK("why", "--commit", "-w", w.Root))
	require.Equal(t, "Assisted-by: cursor-agent (may be a person's)\n", w.CursordOK("why", "--commit", "--trailer", "-w", w.Root))
	w.Git("commit", "-q", "-a", "-m", "both", "--amend")
	text := w.CursordOK("why", "--commit", "-w", w.Root)
	require.Regexp(t, `(?m)^2 lines  \d`, text)
	require.Regexp(t, `(?m)^1 line  may be yours: `, text, "by itself")
	require.Equal(t, "Assisted-by: cursor-agent\n", w.CursordOK("why", "--commit", "--trailer", "-w", w.Root))
	w.Put("notes.txt", "other\n")
	w.Git("commit", "-q", "-a", "-m", "later")
	var kept api.CommitWhy
	e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD~1"}, &kept)
	require.True(t, kept.Files[1].Lines[0].Source.MaybeYours, "in the answer that is kept")
	w.Put("notes.txt", world.UnexplainedAfter["notes.txt"])

	file := w.Path("../session.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)
	there := world.New(t)
	there.PutAll(world.UnexplainedAfter)
	there.Start()
	other := there.Opens()
	other.Must("session/import", world.Obj{"path": file, "workspace": there.Root}, nil)
	require.Equal(t, doubt, sourcesOf(there, other, "notes.txt"))
}

// TestWhyOfACopyHasNoDoubt: only the agent works in a copy, so that what it has written there without a call is its own, also after an accept.
func TestWhyOfACopyHasNoDoubt(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PlaysUnexplained()
	w.Start()
	e := w.Opens()
	e.Ok(e.Isolates())
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, "-----------a--------", sourcesOf(w, e, "notes.txt"))
}
