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
func (w *World) setAhead(by time.Duration, until int64) {
	w.T.Helper()
	w.Put("../ahead.new", fmt.Sprintln(int64(by), until))
	require.NoError(w.T, os.Rename(w.Path("../ahead.new"), w.Path("../ahead")))
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
				w := New(t)
				old := Numbered(20, nil)
				w.PutAll(Tree{"f": old, "g": old, "mine": old, "reviewed": old})
				if repo {
					w.Commits()
				}
				w.setAhead(by, math.MaxInt64)
				w.Start(undertest.Ahead + "=" + filepath.Join(w.Dir, "ahead"))
				e := w.Opens()
				v1 := Numbered(20, map[int]string{2: "agent 2\n"})
				w.Plays(Lines(Edits("e", "reviewed", old, v1))...)
				e.Turn(nil)

				script := Shells("s", "")
				w.Plays(Lines(
					[]string{InitLine, Piece("first"), Waits("call"), `{"fake":"sleep","ms":600}`}, // so the turn is older than the clock is set back
					script[:1], []string{Execs("echo before >>f; touch ../ready"), Waits("go")},
					[]string{Execs("echo after >>g; echo after >new; echo after >>reviewed"), Waits("looked"), script[2]},
					[]string{Piece("done"), Waits("end")},
				)...)
				turn := e.Asks(nil)
				e.Says("first")
				w.Put("mine", "mine\n"+old)
				w.Put("../call", "")
				w.Exists("../ready")
				e.Calls(turn.ID)
				w.setAhead(by, time.Now().UnixNano())
				mark := len(e.All())
				w.Put("../go", "")
				e.DiffOf("reviewed", mark, "what the command wrote", func(d *sessions.Diff) bool {
					return len(d.Hunks) == 2 && Vias(d)[1] == "shell"
				})
				w.Put("../looked", "")
				e.Says("done")

				// People go on.
				mark = len(e.All())
				w.Put("reviewed", "mine\n"+v1+"after\n")
				e.DiffOf("reviewed", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 2 && d.Hunks[0].Lines[0] == " mine" })
				w.Put("../end", "")
				require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
				require.Equal(t, []string{"f", "g", "new", "reviewed"}, Sorted(Keys(e.Diffs())))
				e.Decides("diff/reject", Obj{"all": true})
				w.RequireTree(Tree{"f": old, "g": old, "new": "(absent)", "mine": "mine\n" + old, "reviewed": "mine\n" + old})
			})
		}
	}
}
