//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAPersonsMoveThatACommandTakesBack: a person moves a file on while a turn runs, and a command of the agent moves it back. The file counted as made
// by the command, and a reject removed it.
func TestAPersonsMoveThatACommandTakesBack(t *testing.T) {
	t.Parallel()
	const before, after = "first line\nanother line\n", "first line\nthe agent wrote this\nanother line\n"
	for name, first := range map[string][]string{
		"edited": world.Edits("c1", "f", before, after), "by a command": world.Shells("c1", "sed -i '1a the agent wrote this' f"), "read": world.Shells("c1", "cat f"),
	} {
		for _, looks := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", looked at"}[looks], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", before)
				w.Commits()
				w.Rests()
				w.Start()
				e := w.Opens()
				w.Plays(world.Lines(first, []string{`{"fake":"sleep","ms":50}`, world.Execs("touch ../here"), world.Waits("go")}, world.Shells("c2", "git add -A; git mv g f"))...)
				turn := e.Asks(nil)
				w.Exists("../here")
				w.Makes("git add -A; git mv f g")
				if looks {
					e.Diffs()
					e.Diffs()
				}
				w.Put("../go", "")
				e.Ends(turn.ID)
				e.Diffs()
				e.Diffs()
				require.NotContains(t, w.CursordOK("diff"), "new file")
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Contains(t, []string{w.Get("f"), w.Get("g")}, before)
			})
		}
	}
}
