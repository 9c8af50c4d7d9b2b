//go:build unix

package authorship

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestASaveBetweenAMoveAndACommand: a person saves a file right after an agent's command has moved it, and right before the next command
// writes it with the person's line in it. The line may be the person's.
func TestASaveBetweenAMoveAndACommand(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]string{"in its folder": "a", "to a new folder": "e/a"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			pause := `{"fake":"sleep","ms":50}` // times of files are coarse
			slept := fmt.Sprintf(`{"fake":"write","path":%q,"text":"x"}`, w.Path("../slept"))
			w.PutAll(world.Tree{"b": "zero\none\n", "../text": "mine\none\nagent\n"})
			w.Plays(world.Lines(world.Shells("1", "mkdir e; mv b "+moved), []string{pause, slept, world.Waits("go"), pause}, world.Shells("2", "cat ../text > "+moved))...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(nil)
			e.Until("the move", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == moved })
			require.True(t, world.Comes(world.Patience, func() bool { return w.Get("../slept") == "x" }))
			w.Put(moved, "mine\none\n")
			for range 5 {
				e.Must("workspace/list", world.Obj{}, nil) // so the daemon has had the time to read of the save
			}
			w.Put("../go", "")
			e.Ends(turn.ID)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Contains(t, w.Get("b")+w.Get(moved), "mine\n")
		})
	}
}
