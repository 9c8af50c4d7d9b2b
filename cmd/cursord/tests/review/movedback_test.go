//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAnOriginalThatAPersonHasBack: an agent has copied a file, and may have deleted the original. A person has the original back, or has it
// under another name, and the copy is gone: no decision removes a line of it. Once the file counted as the agent's copy under another name.
func TestAnOriginalThatAPersonHasBack(t *testing.T) {
	t.Parallel()
	const text = "one of mine\ntwo of mine\nthree of mine\n"
	pause := []string{`{"fake":"sleep","ms":100}`}
	copies := world.Lines(world.Edits("e", "m", "(absent)", text), pause, world.Shells("r", "rm a"))
	changes := world.Lines(world.Edits("e", "m", "(absent)", "one of mine\n2\nthree of mine\n"), pause, world.Shells("r", "rm a"))
	for name, c := range map[string]struct {
		agent   []string
		accepts bool
		person  []string
		has     string // where the original is
	}{
		"the copy moved back":            {agent: copies, person: []string{"mv m a"}, has: "a"},
		"the copy moved back, accepted":  {agent: copies, accepts: true, person: []string{"mv m a"}, has: "a"},
		"a changed copy moved back":      {agent: changes, person: []string{"mv m a"}, has: "a"},
		"checked out":                    {agent: copies, person: []string{"git checkout -q a; rm m"}, has: "a"},
		"checked out, accepted":          {agent: copies, accepts: true, person: []string{"git checkout -q a; rm m"}, has: "a"},
		"stashed":                        {agent: copies, person: []string{"git stash -q -u"}, has: "a"},
		"stashed, and popped":            {agent: copies, person: []string{"git stash -q -u", "git stash pop -q"}, has: "a"},
		"the original renamed":           {agent: commands("cp a m"), person: []string{"mv a b; rm m"}, has: "b"},
		"the original renamed first":     {agent: commands("cp a m"), person: []string{"mv a b", "rm m"}, has: "b"},
		"the original renamed, by git":   {agent: commands("cp a m"), person: []string{"git mv a b; git commit -q -m moved; git stash -q -u"}, has: "b"},
		"the original renamed, accepted": {agent: commands("cp a m"), accepts: true, person: []string{"mv a b; rm m"}, has: "b"},
		"moved by git, stashed, popped":  {agent: commands("git mv a m"), person: []string{"git stash -q", "git stash pop -q"}, has: "a"},
	} {
		for _, rewind := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", a rewind", false: ", a reject"}[rewind], func(t *testing.T) {
				t.Parallel()
				w, e := world.WithCommitted(t, "a", text)
				w.Plays(c.agent...)
				turn := e.Turn(nil)
				if c.accepts {
					e.Decides("diff/accept", world.Obj{"all": true})
				}
				for _, does := range c.person {
					w.Makes(does)
					e.Diffs()
				}
				if rewind || c.accepts {
					rewinds(e, turn, nil)
				} else {
					_ = e.Call("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil) // an error, if nothing is left
				}
				w.RequireTree(world.Tree{c.has: text, "m": "(absent)"})
			})
		}
	}
}

// TestUndoOfARejectOfAMoveAndWhatAPersonHasPutInItsPlace: an agent has moved a file and made another one, which a person has moved to the old name of
// the first. An undo of the reject of both finds each. Once it failed, each time it was asked for.
func TestUndoOfARejectOfAMoveAndWhatAPersonHasPutInItsPlace(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"one daemon": false, "the next daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", "mine 1\nmine 2\n")
			w.Commits()
			w.Rests()
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Shells("m", "mv f m"), []string{`{"fake":"sleep","ms":100}`}, world.Edits("e", "n", "(absent)", "agent 1\nagent 2\n"))...)
			e.Turn(nil)
			w.Makes("mv n f")
			was := w.Listing()
			require.Len(t, e.Diffs(), 2)
			for range 2 {
				require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
				w.RequireTree(world.Tree{"f": "mine 1\nmine 2\n", "m": "(absent)", "n": "(absent)"})
				if restarts {
					w.Kill()
					w.Start()
					e = w.Opens()
				}
				e.Decides("diff/undo", world.Obj{})
				require.Equal(t, was, w.Listing())
				require.Len(t, e.Diffs(), 2)
				e.Decides("diff/redo", world.Obj{})
				w.RequireTree(world.Tree{"f": "mine 1\nmine 2\n", "m": "(absent)", "n": "(absent)"})
				e.Decides("diff/undo", world.Obj{})
				require.Equal(t, was, w.Listing())
			}
		})
	}
}
