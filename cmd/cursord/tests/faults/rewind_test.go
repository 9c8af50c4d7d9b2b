//go:build unix

package faults

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestCrashesInRewind kills the daemon in every step of a rewind: afterwards all of it has happened, in the files and in the
// transcript, or nothing, and one undo brings every byte back.
func TestCrashesInRewind(t *testing.T) {
	t.Parallel()
	for _, isolated := range []bool{false, true} {
		t.Run(fmt.Sprint("isolated ", isolated), func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Makes("umask 022; seq 9 >f; seq 9 >g; ln -s x l; echo m >m; seq 9 >k; echo mine >>k")
			w.Plays(append(world.Shells("s", "umask 022; rm f; echo b >>g; ln -sfn y l; mv m n; mkdir d; echo h >d/h; sed -i s/5/five/ k"), world.Done)...)
			w.Start()
			e := w.Opens()
			params := world.Obj{}
			var session *sessions.Session
			if isolated {
				session = e.Isolates()
				params["sessionId"] = session.ID
			}
			turn := e.Turn(params)
			e.Decides("diff/accept", world.Obj{"path": "g"})
			e.Decides("diff/accept", world.Obj{"path": "f"})
			e.Decides("diff/accept", world.Obj{"path": "d/h"})
			state := func() string {
				e.Diffs()
				tree := w.Listing()
				if session != nil {
					tree += fmt.Sprint(w.Whole(w.CopyOf(session)))
				}
				return tree
			}
			was := state()
			w.Stop()
			w.Makes("mkdir ../saved && cp -a ../ws ../state ../saved")
			rewinds := func() error {
				return e.Call("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}, nil)
			}
			turns := func() int {
				var all api.Transcript
				e.Must("session/read", world.Obj{"sessionId": turn.SessionID}, &all)
				require.Equal(t, len(all.Turns), all.Session.Turns)
				return len(all.Turns)
			}
			w.Start()
			e = w.Opens()
			require.NoError(t, rewinds())
			will := state()
			require.NotEqual(t, was, will)
			w.Stop()
			for n := 1; ; n += stride(isolated) {
				w.Makes("rm -rf ../state && find . -mindepth 1 -delete && cp -a ../saved/ws/. . && cp -a ../saved/state ..")
				plans(w, "kill %d", n)
				w.Start(undertest.Fault + "=" + faultPlan(w))
				e = w.Opens()
				err := rewinds()
				if len(reached(w)) < n {
					require.NoError(t, err)
					require.Greater(t, n, 5)
					w.Stop()
					return
				}
				<-w.Ended
				w.Cmd = nil
				when := fmt.Sprintf("killed before %q, step %d", reached(w)[n-1], n)
				w.Start()
				e = w.Opens()
				now := state()
				require.NotContains(t, now, ".tmp", when)
				if turns() > 0 {
					require.Equal(t, was, now, when)
					require.NoError(t, rewinds(), when)
					require.Equal(t, will, state(), when)
				} else {
					require.Equal(t, will, now, when)
				}
				require.Zero(t, turns(), when)
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, was, state(), when)
				w.Stop()
			}
		})
	}
}
