//go:build unix

package faults

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestCrashesInRewind kills the daemon in every step of a rewind: afterwards all of it has happened, in the files and in the
// transcript, or nothing, and one undo brings every byte back. So it is if a turn starts with it: that turn has begun, or a repetition says
// that it has not.
func TestCrashesInRewind(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct{ isolated, resends bool }{
		"in the workspace": {}, "isolated": {isolated: true}, "with a new turn": {resends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isolated := one.isolated
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
			w.Plays(world.Lines([]string{world.Piece("again")})...)
			again := world.Obj{"workspace": w.Root, "sessionId": turn.SessionID, "prompt": "again", "rewind": turn.ID, "turnId": "again"}
			rewinds := func() error {
				if one.resends {
					err := e.Call("turn/start", again, nil)
					if err == nil {
						err = e.Call("turn/wait", world.Obj{"turnId": "again"}, nil)
					}
					return err
				}
				return e.Call("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}, nil)
			}
			turns := func() (ids []string) {
				var all api.Transcript
				e.Must("session/read", world.Obj{"sessionId": turn.SessionID}, &all)
				require.Equal(t, len(all.Turns), all.Session.Turns)
				for _, t := range all.Turns {
					ids = append(ids, t.ID)
				}
				return ids
			}
			w.Start()
			e = w.Opens()
			require.NoError(t, rewinds())
			will := state()
			require.NotEqual(t, was, will)
			w.Stop()
			for n := 1; ; n += stride(isolated || one.resends) {
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
				first, tree := turns(), w.Listing() // before the reviewer is asked for anything
				now := state()
				require.NotContains(t, now, ".tmp", when)
				left, want := turns(), []string(nil)
				require.Equal(t, first, left, when)
				require.Contains(t, now, tree, when)
				if slices.Contains(left, turn.ID) {
					require.Equal(t, []string{turn.ID}, left, when)
					require.Equal(t, was, now, when)
					require.NoError(t, rewinds(), when)
					require.Equal(t, will, state(), when)
					left = turns()
				} else {
					require.Equal(t, will, now, when)
				}
				if one.resends {
					began, err := len(left) > 0, e.Call("turn/start", again, nil)
					require.Equal(t, began, err == nil, when)
					if want = left; !began {
						require.ErrorContains(t, err, turn.ID, when)
					}
				}
				require.Equal(t, want, turns(), when)
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, was, state(), when)
				w.Stop()
			}
		})
	}
}
