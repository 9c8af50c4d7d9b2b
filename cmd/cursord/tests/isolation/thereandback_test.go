//go:build unix

package isolation

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// shape is what a person sees of a diff, without the revisions.
func shape(d *sessions.Diff) (lines []string) {
	if d == nil {
		return nil
	}
	for _, h := range d.Hunks {
		lines = append(append(lines, h.ID), h.Lines...)
	}
	return lines
}

func TestTwoAttemptsAtOneFile(t *testing.T) { bothKinds(t, testTwoAttemptsAtOneFile) }

// testTwoAttemptsAtOneFile accepts an attempt, takes that back, and accepts the other one, which creates the same file and changes the
// same line.
func testTwoAttemptsAtOneFile(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "1\n2\n3\n")
	w.Commits()
	numbered(w, `printf 'a\nb\nprint(%s)\nc\n' $n > new; sed -i "s/^3$/three $n/" f`)
	w.Start()
	e := w.Opens()
	turns := attempts(e, "g", 2, nil)
	for _, turn := range turns {
		require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	}
	was := e.Diffs()
	require.Len(t, was["new"].Hunks, 2)
	for n, turn := range turns {
		e.Decides("diff/accept", world.Obj{"turnId": turn.ID})
		num := string(rune('1' + n))
		require.Equal(t, "a\nb\nprint("+num+")\nc\n", w.Get("new"))
		require.Equal(t, "1\n2\nthree "+num+"\n", w.Get("f"))
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		now := e.Diffs()
		for _, name := range []string{"new", "f"} {
			require.Equal(t, shape(was[name]), shape(now[name]))
		}
		require.Equal(t, "1\n2\n3\n", w.Get("f"))
		require.NoFileExists(t, w.Path("new"))
	}
	for n, turn := range turns {
		s := &sessions.Session{ID: turn.SessionID}
		require.Equal(t, "a\nb\nprint("+string(rune('1'+n))+")\nc\n", w.Copied(s, "new"))
	}
}

func TestAFileThatIsAsItWasBefore(t *testing.T) { bothKinds(t, testAFileThatIsAsItWasBefore) }

// testAFileThatIsAsItWasBefore changes a file of the work tree and changes it back, also while no daemon runs, and over the begin of
// a turn. The hunks are those from before.
func testAFileThatIsAsItWasBefore(t *testing.T) {
	a := newApart(t)
	was, copied := shape(a.e.Diffs()["f"]), a.w.Copied(a.s, "f")
	differs := func() {
		t.Helper()
		require.Eventually(t, func() bool { return !slices.Equal(was, shape(a.e.Diffs()["f"])) }, world.Patience, world.Patience/1000)
	}
	back := func(how string) {
		t.Helper()
		require.Eventually(t, func() bool { return slices.Equal(was, shape(a.e.Diffs()["f"])) }, world.Patience, world.Patience/1000, how)
		require.Equal(t, copied, a.w.Copied(a.s, "f"), how)
	}
	agreed := strings.NewReplacer("line 5\n", "agent 5\n", "line 25\n", "")
	ways := []string{
		strings.Replace(a.before, "line 15\n", "mine 15\n", 1),
		agreed.Replace(a.before),
		a.after,
	}
	for _, way := range ways {
		a.w.Put("f", way)
		differs()
		a.w.Put("f", a.before)
		back(way)
	}
	for _, way := range ways {
		a.w.Put("f", way)
		differs()
		a.w.Stop()
		a.w.Start()
		a.e = a.w.Opens()
		a.w.Put("f", a.before)
		back("after a restart")

		a.w.Put("f", way)
		differs()
		a.w.Plays(world.Lines(world.Edits("d", "g", "", "g\n"))...)
		a.w.Put("f", a.before)
		a.e.Ok(a.s)
		back("over a turn")
	}
	a.e.Decides("diff/accept", world.Obj{"path": "f"})
	require.Equal(t, a.after, a.w.Get("f"))
}
