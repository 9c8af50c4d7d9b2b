//go:build unix

package authorship

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestUndoOfARejectOfAMoveAndWhatCameInItsPlace: the old path has two reviews after the reject, and the undo finds both.
func TestUndoOfARejectOfAMoveAndWhatCameInItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, one, two string }{
		"a binary that is gone":  {"\x00b", `printf '\0q' >f; mv f g`, `cp g f; rm g; printf 'txt\n' >f`},
		"a binary that is moved": {"\x00b", `printf '\0q' >f; mv f g`, `printf 'txt\n' >f`},
		"a text that is gone":    {"b\nc\nd\n", `printf 'b\nc\nq\n' >f; mv f g`, `cp g f; rm g; printf 'txt\n' >f`},
		"a text that is moved":   {"b\nc\nd\n", `printf 'b\nc\nq\n' >f; mv f g`, `printf 'txt\n' >f`},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, again), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", c.before)
				w.Commits()
				w.Start()
				e := w.Opens()
				w.Plays(world.Shells("s", c.one)...)
				turn := e.Turn(nil)
				w.Plays(world.Shells("t", c.two)...)
				e.Turn(world.Obj{"sessionId": turn.SessionID})
				was, diffs := w.Listing(), e.Diffs()
				require.Len(t, diffs, 2)
				for range 2 {
					require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
					require.Equal(t, c.before, w.Get("f"))
					if again {
						w.Kill()
						w.Start()
						e = w.Opens()
					}
					e.Decides("diff/undo", world.Obj{})
					require.Equal(t, was, w.Listing())
					e.Decides("diff/redo", world.Obj{})
					require.Equal(t, c.before, w.Get("f"))
					e.Decides("diff/undo", world.Obj{})
					now := e.Diffs()
					require.Len(t, now, 2)
					for path, d := range diffs {
						require.Equal(t, d.Hunks, now[path].Hunks)
					}
				}
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(diffs["f"])})
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(diffs["g"])})
				require.Equal(t, c.before, w.Get("f"))
				w.Put("g", "mine\n")
				e.Fails("diff/undo", world.Obj{"workspace": w.Root})
				require.NoError(t, os.Remove(w.Path("g")))
				e.Decides("diff/undo", world.Obj{})
				e.Decides("diff/undo", world.Obj{})
				require.Equal(t, was, w.Listing())
			})
		}
	}
}
