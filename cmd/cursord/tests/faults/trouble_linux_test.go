//go:build unix

package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// TestNothingIsWrittenThatCannotBeStored has the database refuse changes from the moment of a decision on: no file is
// written, and the decision works once the database does.
func TestNothingIsWrittenThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"diff/reject", "diff/undo"} {
		t.Run(method, func(t *testing.T) {
			s := scenario{name: "x", before: `seq 9 >f; seq 9 >g`, does: `echo b >>f; rm g`, asked: method, taken: "diff/redo"}
			if method == "diff/reject" {
				s.taken = "diff/undo"
			} else {
				s.decided = []string{"diff/reject"}
			}
			c := newCrashes(t, s)
			c.back()
			plans(c.World, "none")
			c.Start(undertest.Fault + "=" + faultPlan(c.World))
			e := c.Opens()
			require.Equal(t, c.was, c.outcome(e))
			limit := func(bytes uint64) {
				var was unix.Rlimit
				require.NoError(t, unix.Prlimit(c.Cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &was))
				require.NoError(t, unix.Prlimit(c.Cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: was.Max}, nil))
			}
			limit(0)
			for range 2 { // the first decision finds out
				params := world.Obj{"workspace": c.Root}
				if method == "diff/reject" {
					params["all"] = true
				}
				failed := e.Fails(method, params)
				require.EqualValues(t, "storage", failed.Data.Kind, "%+v", failed)
				require.Equal(t, c.was, c.outcome(e))
			}
			limit(unix.RLIM_INFINITY)
			require.True(t, world.Comes(world.Patience, func() bool {
				return e.Call("session/create", world.Obj{"workspace": c.Root}, nil) == nil
			}), "the trouble does not end")
			require.NoError(t, c.ask(e, method))
			require.Equal(t, c.will, c.outcome(e))
			c.Kill()
			c.Start()
			c.requireSound("killed afterwards")
		})
	}
}
