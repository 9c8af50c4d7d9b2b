//go:build unix

package alone

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// setAhead sets the clock of all processes of the world ahead until t.
func setAhead(w *world.World, by time.Duration, until int64) {
	w.T.Helper()
	w.Put("../ahead.new", fmt.Sprintln(int64(by), until))
	require.NoError(w.T, os.Rename(w.Path("../ahead.new"), w.Path("../ahead")))
}

// TestTheClockIsSet sets the clock back, and ahead, in the middle of an agent's command. The command's changes before and
// after that are the agent's, and people's changes are theirs.
func TestTheClockIsSet(t *testing.T) {
	t.Parallel() // beside the other test alone, one case at a time: the daemon must look at a change before the clock is set back, 400 ms later
	for _, c := range []struct {
		name  string
		by    time.Duration
		repos []bool
	}{
		{"back by an hour", time.Hour, []bool{false}},
		{"back by less than the turn's age", 400 * time.Millisecond, []bool{false, true}},
		{"back by a second", time.Second, []bool{true}},
		{"ahead by a second", -time.Second, []bool{false}},
		{"ahead by a year", -365 * 24 * time.Hour, []bool{true}},
	} {
		by := c.by
		for _, repo := range c.repos {
			t.Run(c.name+map[bool]string{true: ", git"}[repo], func(t *testing.T) {
				w := world.New(t)
				old := world.Numbered(20, nil)
				w.PutAll(world.Tree{"f": old, "g": old, "mine": old, "reviewed": old})
				if repo {
					w.Commits()
				}
				setAhead(w, by, math.MaxInt64)
				w.Start(undertest.Ahead + "=" + filepath.Join(w.Dir, "ahead"))
				e := w.Opens()
				v1 := world.Numbered(20, map[int]string{2: "agent 2\n"})
				w.Plays(world.Lines(world.Edits("e", "reviewed", old, v1))...)
				e.Turn(nil)

				script := world.Shells("s", "")
				w.Plays(world.Lines(
					[]string{world.InitLine, world.Piece("first"), world.Waits("call"), `{"fake":"sleep","ms":600}`}, // so that the turn is older than the clock is set back
					script[:1], []string{world.Execs("echo before >>f; touch ../ready"), world.Waits("go")},
					[]string{world.Execs("echo after >>g; echo after >new; echo after >>reviewed"), world.Waits("looked"), script[2]},
					[]string{world.Piece("done"), world.Waits("end")},
				)...)
				turn := e.Asks(nil)
				e.Says("first")
				w.Put("mine", "mine\n"+old)
				w.Put("../call", "")
				w.Exists("../ready")
				e.Calls(turn.ID)
				setAhead(w, by, time.Now().UnixNano())
				mark := len(e.All())
				w.Put("../go", "")
				e.DiffOf("reviewed", mark, "what the command wrote", func(d *sessions.Diff) bool {
					return len(d.Hunks) == 2 && world.Vias(d)[1] == "shell"
				})
				w.Put("../looked", "")
				e.Says("done")

				// People go on.
				mark = len(e.All())
				w.Put("reviewed", "mine\n"+v1+"after\n")
				e.DiffOf("reviewed", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 2 && d.Hunks[0].Lines[0] == " mine" })
				w.Put("../end", "")
				require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
				require.Equal(t, []string{"f", "g", "new", "reviewed"}, world.Sorted(world.Keys(e.Diffs())))
				e.Decides("diff/reject", world.Obj{"all": true})
				w.RequireTree(world.Tree{"f": old, "g": old, "new": "(absent)", "mine": "mine\n" + old, "reviewed": "mine\n" + old})
			})
		}
	}
}
