//go:build unix

package isolation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestStepsInAFileAndItsCopy: a session changes a file in the work tree, and another one the file in its copy. A reject of both, its undo and its
// redo are made in both places at once.
func TestStepsInAFileAndItsCopy(t *testing.T) {
	t.Parallel()
	for _, accept := range []bool{false, true} {
		w := world.New(t)
		w.Makes("seq 8 >f")
		w.Start()
		e := w.Opens()
		turn := func(isolation, command string) string {
			var made struct{ Session *sessions.Session }
			e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": isolation}, &made)
			w.Plays(world.Lines([]string{world.InitLine}, world.Shells("a", command), []string{world.Succeeds("Done.")})...)
			e.Ok(made.Session)
			return w.Seen(made.Session)
		}
		turn("none", "sed -i s/6/six/ f")
		apart := turn("copy", "echo nine >>f")
		hunks := func() (all []string) {
			for _, d := range e.Diffs() {
				for _, h := range d.Hunks {
					all = append(all, strings.Join(h.Lines, "|"))
				}
			}
			return all
		}
		state := func() []string { // the copy follows the work tree later
			return append(hunks(), w.Get("f"), fmt.Sprint(strings.Contains(w.Whole(apart)["f"], "nine")))
		}
		before := state()
		require.Len(t, before, 4)
		decision := map[bool]string{true: "diff/accept", false: "diff/reject"}[accept]
		e.Decides(decision, world.Obj{"all": true})
		after := state()
		require.Len(t, after, 2)
		for range 2 {
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, before, state())
			e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, after, state())
		}
		var out struct{ Lines []api.WhyLine }
		e.Must("file/why", world.Obj{"workspace": w.Root, "path": "f"}, &out)
		require.Equal(t, accept, slices.ContainsFunc(out.Lines, func(l api.WhyLine) bool { return l.Source != nil }))
	}
}
