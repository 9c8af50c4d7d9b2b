package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindLeavesWhatMayBeAPersons takes a turn back that has lines, a file or a mode that no call explains: these stay, pending or accepted, as a
// reject leaves them that does not name them.
func TestRewindLeavesWhatMayBeAPersons(t *testing.T) {
	sure, maybe := by("s", "1"), &Source{SessionID: "s", TurnID: "1", Via: ViaUnknown}
	exec := file("a\n")
	exec.Mode = 0o755
	type step struct {
		now Content
		by  *Source
	}
	for _, c := range []struct {
		name       string
		base       Content
		steps      []step
		want, both Content // without what is surely the agent's, and without all
		left       Left
	}{
		{"a new file", Content{}, []step{{file("mine\n"), maybe}}, file("mine\n"), Content{}, Left{}},
		{"a changed line", file("a\nb\n"), []step{{file("mine\nb\n"), maybe}}, file("mine\nb\n"), file("a\nb\n"), Left{}},
		{"a removed line", file("a\nb\n"), []step{{file("a\n"), maybe}}, file("a\n"), file("a\nb\n"), Left{}},
		{"a removed file", file("a\nb\n"), []step{{Content{}, maybe}}, Content{}, file("a\nb\n"), Left{}},
		{"a mode", file("a\n"), []step{{exec, maybe}}, exec, file("a\n"), Left{}},
		{"a link", Content{}, []step{{Content{Exists: true, Target: "x"}, maybe}}, Content{Exists: true, Target: "x"}, Content{}, Left{}},
		{
			"beside an edit", file("a\nb\nc\nd\n"), []step{{file("A\nb\nc\nd\n"), sure}, {file("A\nb\nc\nmine\n"), maybe}},
			file("a\nb\nc\nmine\n"), file("a\nb\nc\nd\n"), Left{},
		},
		{
			"in a file of an edit", Content{}, []step{{file("agent\n"), sure}, {file("agent\nmine\n"), maybe}},
			file("mine\n"), Content{}, Left{Changed: true},
		},
		{
			"before an edit", file("a\nb\n"), []step{{file("a\nb\nmine\n"), maybe}, {file("a\nagent\n"), sure}},
			file("a\nb\nmine\n"), file("a\nb\n"), Left{},
		},
	} {
		for _, accepted := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				r := New(c.base)
				for _, s := range c.steps {
					r.Observe(s.now, s.by)
				}
				if accepted {
					_, err := r.Decide(hunkIDs(r), true, nil)
					require.NoError(t, err)
				}
				r = restored(t, r)
				was := r.Copy()
				d, left, err := r.Rewind(Undone{"s", []string{"1"}})
				c.left.Maybe = true
				require.Equal(t, c.left, left)
				require.Equal(t, c.want, r.Current())
				require.Equal(t, !accepted, r.Pending())
				if len(c.steps) == 1 {
					require.ErrorIs(t, err, ErrNotFound)
					require.Equal(t, was.Marshal(), r.Marshal())
				} else {
					require.NoError(t, err)
					for _, h := range r.Hunks() {
						require.True(t, MaybeYours(r.Hunks())[h.ID])
					}
					r = restored(t, r)
					require.NoError(t, r.Undo(passed(t, d)))
					requireSame(t, was, r)
				}

				_, left, err = r.RewindAll(Undone{"s", []string{"1"}})
				require.NoError(t, err)
				require.Equal(t, Left{}, left)
				require.Equal(t, c.both, r.Current(), "in a copy, all is the agent's")
				_, left, err = r.Rewind(Undone{"s", []string{"1"}})
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, Left{}, left, "nothing of it is left")
			})
		}
	}
}

// TestObserveFromAcceptsWhatACopyHas takes back in the work tree what was accepted from a copy, where no call explained it: only the agent writes the copy.
func TestObserveFromAcceptsWhatACopyHas(t *testing.T) {
	copied, real := New(file("a\n")), New(file("a\n"))
	copied.Observe(file("a\nb\n"), &Source{SessionID: "s", TurnID: "1", Via: ViaUnknown})
	_, err := copied.Decide(hunkIDs(copied), true, nil)
	require.NoError(t, err)
	real.ObserveFrom(file("a\nb\n"), copied)
	_, left, err := real.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, Left{}, left)
	require.Equal(t, "a\n", string(real.Current().Data))
}
