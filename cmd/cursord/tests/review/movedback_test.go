//go:build unix

package review

import (
	"testing"

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
				w := world.New(t)
				w.Put("a", text)
				w.Ages("a")
				w.Commits()
				w.Rests()
				w.Start()
				e := w.Opens()
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
