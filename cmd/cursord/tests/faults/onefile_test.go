//go:build unix

package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// TestCrashesInADecisionAboutAFileOfTwoSessions kills the daemon in every step of an accept of what two isolated sessions have made of a file,
// and in every step of its undo. Afterwards nothing of it has happened, a part or all, and what has not is pending.
func TestCrashesInADecisionAboutAFileOfTwoSessions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	w.Put("f", before)
	w.Start()
	e := w.Opens()
	for i, line := range []int{5, 15} {
		s := e.Isolates()
		w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(30, map[int]string{line: fmt.Sprintf("agent %d\n", i)})))...)
		e.Ok(s)
	}
	ids := world.HunkIDs(e.Diffs()["f"])
	require.Len(t, ids, 2)
	made := world.Numbered(30, map[int]string{5: "agent 0\n", 15: "agent 1\n"})
	again := func() {
		w.Makes("rm -rf ../state && find . -mindepth 1 -delete && cp -a ../saved/ws/. . && cp -a ../saved/state ..")
	}
	for _, undo := range []bool{false, true} {
		if undo {
			w.Stop()
			again()
			w.Start()
			e = w.Opens()
			e.Decides("diff/accept", world.Obj{"all": true})
		}
		w.Stop()
		w.Makes("rm -rf ../saved && mkdir ../saved && cp -a ../ws ../state ../saved")
		for n := 1; ; n++ {
			again()
			plans(w, "kill %d", n)
			w.Start(undertest.Fault + "=" + faultPlan(w))
			e = w.Opens()
			method, params := "diff/accept", world.Obj{"workspace": w.Root, "all": true}
			if undo {
				method, params = "diff/undo", world.Obj{"workspace": w.Root}
			}
			err := e.Call(method, params, nil)
			if len(reached(w)) < n {
				require.NoError(t, err)
				require.Greater(t, n, 5)
				break
			}
			<-w.Ended
			w.Cmd = nil
			when := fmt.Sprintf("%s killed before %q, step %d", method, reached(w)[n-1], n)
			w.Start()
			e = w.Opens()
			pending := 0
			if d := e.Diffs()["f"]; d != nil {
				pending = len(d.Hunks)
			}
			require.Equal(t, 2, pending+strings.Count(w.Get("f"), "agent"), when)
			if undo {
				require.NotEqual(t, 1, pending, when)
			}
			if pending > 0 {
				e.Decides("diff/accept", world.Obj{"all": true})
			}
			require.Equal(t, made, w.Get("f"), when)
			for w.Get("f") != before {
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			}
			require.Subset(t, world.HunkIDs(e.Diffs()["f"]), ids, when)
			w.Stop()
		}
	}
}
