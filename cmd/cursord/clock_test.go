package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/sessions"
)

// setAhead has all processes of the world have a clock that is ahead, from the beginning of time until t.
func (w *world) setAhead(by time.Duration, until int64) {
	w.t.Helper()
	w.put("../ahead.new", fmt.Sprintln(int64(by), until))
	require.NoError(w.t, os.Rename(w.path("../ahead.new"), w.path("../ahead")))
}

// TestTheClockIsSet has the clock set back, and ahead, in the middle of an agent's command. What it wrote since and before is
// the agent's all the same, and what people wrote is theirs.
func TestTheClockIsSet(t *testing.T) {
	// Not parallel: what is written 400 ms before a clock is set back must be looked at before that.
	for name, by := range map[string]time.Duration{
		"back by an hour": time.Hour, "back by less than the turn's age": 400 * time.Millisecond, "back by a second": time.Second,
		"ahead by a second": -time.Second, "ahead by a year": -365 * 24 * time.Hour,
	} {
		for _, repo := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", git"}[repo], func(t *testing.T) {
				w := newWorld(t)
				old := numbered(20, nil)
				w.putAll(tree{"f": old, "g": old, "mine": old, "reviewed": old})
				if repo {
					w.commits()
				}
				w.setAhead(by, math.MaxInt64)
				w.start(undertest.Ahead + "=" + filepath.Join(w.dir, "ahead"))
				e := w.opens()
				v1 := numbered(20, map[int]string{2: "agent 2\n"})
				w.plays(lines(edits("e", "reviewed", old, v1))...)
				e.turn(nil)

				script := shells("s", "")
				w.plays(lines(
					[]string{initLine, piece("first"), waits("call"), `{"fake":"sleep","ms":600}`}, // so the turn is older than the clock is set back
					script[:1], []string{execs("echo before >>f; touch ../ready"), waits("go")},
					[]string{execs("echo after >>g; echo after >new; echo after >>reviewed"), waits("looked"), script[2]},
					[]string{piece("done"), waits("end")},
				)...)
				turn := e.asks(nil)
				e.says("first")
				w.put("mine", "mine\n"+old)
				w.put("../call", "")
				w.exists("../ready")
				e.calls(turn.ID)
				w.setAhead(by, time.Now().UnixNano())
				mark := len(e.all())
				w.put("../go", "")
				e.diffOf("reviewed", mark, "what the command wrote", func(d *sessions.Diff) bool {
					return len(d.Hunks) == 2 && vias(d)[1] == "shell"
				})
				w.put("../looked", "")
				e.says("done")

				// People go on.
				mark = len(e.all())
				w.put("reviewed", "mine\n"+v1+"after\n")
				e.diffOf("reviewed", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 2 && d.Hunks[0].Lines[0] == " mine" })
				w.put("../end", "")
				require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
				require.Equal(t, []string{"f", "g", "new", "reviewed"}, sorted(keys(e.diffs())))
				e.decides("diff/reject", obj{"all": true})
				w.requireTree(tree{"f": old, "g": old, "new": "(absent)", "mine": "mine\n" + old, "reviewed": "mine\n" + old})
			})
		}
	}
}
