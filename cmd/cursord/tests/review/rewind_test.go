//go:build unix

package review

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

// commands is the script of an agent that runs a command.
func commands(command string) []string {
	return world.Lines([]string{world.InitLine}, world.Shells("s", command), []string{world.Succeeds("Done.")})
}

// rewinds takes a session back to before a turn.
func rewinds(e *world.Editor, turn *sessions.Turn, more world.Obj) (out api.Rewound) {
	params := world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}
	for k, v := range more {
		params[k] = v
	}
	e.Must("session/rewind", params, &out)
	return out
}

func changedSince(out api.Rewound) (paths []string) {
	for _, s := range out.Skipped {
		if s.Kind == api.KindChangedSince {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// TestRewind has turns make, change, move and remove files by commands, decides some of it, writes beside it, and goes back to
// before the second turn, also after a restart of the daemon; undo brings all back.
func TestRewind(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarts ", restarts), func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Makes(`umask 022; seq 9 >f; seq 9 >gone; seq 20 >moved; echo a >mode; chmod 644 mode; ln -s x link; printf 'a\000b' >bin; touch -d '1 hour ago' *`)
			w.Start()
			e := w.Opens()
			w.Plays(commands("sed -i s/2/two/ f")...)
			first := e.Turn(world.Obj{"prompt": "first"})
			e.Decides("diff/accept", world.Obj{"all": true})
			before := w.Listing()
			w.Plays(commands(`umask 022; sed -i s/5/five/ f; rm gone; mkdir -p d/e; mv moved d/e/to; chmod 755 mode; ln -sfn y link; printf 'a\000c' >bin; echo new >made`)...)
			second := e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
			e.Decides("diff/accept", world.Obj{"path": "f"})
			e.Decides("diff/accept", world.Obj{"path": "gone"})
			e.Decides("diff/accept", world.Obj{"path": "made"})
			e.Decides("diff/accept", world.Obj{"path": "bin"})
			w.Plays(commands("echo ten >>f; echo more >>made")...)
			e.Turn(world.Obj{"prompt": "third", "sessionId": first.SessionID})
			then := w.Listing()
			if restarts {
				w.Kill()
				w.Start()
				e = w.Opens()
			}

			dry := rewinds(e, second, world.Obj{"dryRun": true})
			require.Equal(t, then, w.Listing())
			require.Contains(t, dry.Patch, "-five\n+5\n")
			require.Contains(t, dry.Patch, "rename from d/e/to\nrename to moved\n")
			require.Contains(t, dry.Patch, "+++ b/gone\n")
			require.NotZero(t, dry.Applied)
			require.Zero(t, dry.Decision)

			out := rewinds(e, second, nil)
			require.Equal(t, before, w.Listing())
			require.Empty(t, out.Skipped)
			require.Equal(t, second.ID, out.Turns[0])
			require.Len(t, out.Turns, 2)
			require.Nil(t, out.Session.AgentSessionID)
			require.True(t, out.Session.Rewound)
			require.Equal(t, 1, out.Session.Turns)
			require.Equal(t, dry.Applied, out.Applied)
			require.Empty(t, e.Diffs())
			for _, id := range out.Turns {
				e.Until("the turn's removal", func(n world.Notification) bool { return n.Method == "turn/changed" && n.Removed && n.TurnID == id })
			}
			var all api.Transcript
			e.Must("session/read", world.Obj{"sessionId": first.SessionID, "limit": 1000}, &all)
			require.Len(t, all.Turns, 1)
			require.Equal(t, -32001, e.Fails("turn/wait", world.Obj{"turnId": second.ID}).Code)

			var undone struct{ Step api.Step }
			e.Must("diff/undo", world.Obj{"workspace": w.Root, "decision": out.Decision}, &undone)
			require.Equal(t, then, w.Listing())
			require.Equal(t, api.StepRewind, undone.Step.Kind)
			require.NotEmpty(t, e.Diffs())
			e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, before, w.Listing())
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, then, w.Listing())
			e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)

			// The next turn begins a fresh chat.
			w.Plays(commands("true")...)
			e.Turn(world.Obj{"prompt": "another way", "sessionId": first.SessionID})
			runs := w.Runs()
			last := runs[len(runs)-1]
			require.NotContains(t, last.Args, "--resume")
			require.Contains(t, last.Prompt, "[user]\nfirst\n")
			require.NotContains(t, last.Prompt, "second")
			e.Turn(world.Obj{"prompt": "more", "sessionId": first.SessionID})
			runs = w.Runs()
			require.Contains(t, runs[len(runs)-1].Args, "--resume")
		})
	}
}

// TestRewindKeepsWhatPeopleWrote: lines of a person and of another session stay, and what a person has changed is listed.
func TestRewindKeepsWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f; seq 9 >g")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i -e s/3/three/ -e s/7/seven/ f; echo made >made; echo made >mine; sed -i s/5/five/ g")...)
	turn := e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"path": "f"})
	w.Plays(commands("sed -i s/9/nine/ f")...)
	other := e.Turn(nil)
	w.Makes("sed -i -e '1i mine' -e s/seven/mine/ f; echo mine >>mine")
	then := w.Listing()
	out := rewinds(e, turn, nil)
	require.Equal(t, "mine\n1\n2\n3\n4\n5\n6\nmine\n8\nnine\n", w.Get("f"))
	require.Equal(t, "mine\n", w.Get("mine"))
	require.Equal(t, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", w.Get("g"))
	require.ElementsMatch(t, []string{"f", "mine"}, changedSince(out))
	w.Makes("test ! -e made")
	require.Equal(t, []string{other.ID}, e.Diffs()["f"].Turns, "the other session's hunk is pending")
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, then, w.Listing())

	// The session is without turns now, and goes on anew: the agent gets only what waits in review.
	require.Equal(t, -32001, e.Fails("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}).Code)
	w.Plays(commands("true")...)
	e.Turn(world.Obj{"prompt": "anew", "sessionId": turn.SessionID})
	runs := w.Runs()
	const waits = "- The user has not decided yet on 1 hunk in "
	require.Equal(t, "<context>\n<transcript>\n[review]\n"+waits+"g.\n"+waits+"made.\n"+waits+"mine.\n</transcript>\n</context>\n\nanew", runs[len(runs)-1].Prompt)
}

// TestRewindOfTheTranscriptAlone leaves the files, and refuses what it cannot do.
func TestRewindOfTheTranscriptAlone(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/3/three/ f")...)
	turn, other := e.Turn(nil), e.Turn(nil)
	require.Equal(t, -32602, e.Fails("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": other.ID}).Code)
	require.Equal(t, -32001, e.Fails("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": "none"}).Code)
	require.Equal(t, -32001, e.Fails("session/rewind", world.Obj{"sessionId": "none", "turnId": turn.ID}).Code)
	w.Plays(world.InitLine, world.Waits("go"), world.Succeeds("Done."))
	running := e.Asks(world.Obj{"sessionId": turn.SessionID, "prompt": "slowly"})
	require.Equal(t, -32002, e.Fails("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}).Code)
	w.Put("../go", "")
	e.Ends(running.ID)
	out := rewinds(e, turn, world.Obj{"files": false})
	require.Equal(t, []string{turn.ID, running.ID}, out.Turns)
	require.Zero(t, out.Decision)
	require.Contains(t, w.Get("f"), "three")
	require.Contains(t, e.Diffs(), "f", "what it wrote is still to be reviewed")
}

// TestRewindOfWhatWasPending: a later turn changes, moves or deletes what an earlier one has made, and nobody has decided about. A rewind to
// the later one leaves the earlier one's changes to be reviewed, in the workspace and in a copy.
func TestRewindOfWhatWasPending(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"none", "copy"} {
		for _, later := range []string{
			"sed -i s/3/third/ made", "rm made", "mv made moved", "mv made moved; echo more >>moved", "sed -i s/five/fifth/ f", "sed -i s/five/5/ f", "rm f",
		} {
			t.Run(isolation+" "+later, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Makes("seq 9 >f")
				w.Start()
				e := w.Opens()
				var made struct{ Session *sessions.Session }
				e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": isolation}, &made)
				tree := func() string {
					if isolation == "none" {
						return w.Listing()
					}
					return fmt.Sprint(w.Whole(w.Seen(made.Session)))
				}
				hunks := func() (all []string) {
					for path, d := range e.Diffs() {
						for _, h := range d.Hunks {
							all = append(all, path+": "+strings.Join(h.Lines, "|"))
						}
					}
					slices.Sort(all)
					return all
				}
				w.Plays(commands("seq 20 >made; sed -i s/5/five/ f")...)
				e.Ok(made.Session)
				before, pending := tree(), hunks()
				require.Len(t, pending, 2)
				w.Plays(commands(later)...)
				turn := e.Ok(made.Session)
				after, then := tree(), hunks()
				require.NotEqual(t, pending, then)
				out := rewinds(e, turn, nil)
				require.Empty(t, out.Skipped)
				require.Equal(t, before, tree())
				require.Equal(t, pending, hunks())
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, after, tree())
				require.Equal(t, then, hunks())
			})
		}
	}
}

// TestRewindInACopy takes back what an isolated session did: what was accepted in the workspace, and all in the copy.
func TestRewindInACopy(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f; seq 9 >g")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/3/three/ f; sed -i s/5/five/ g; echo made >made")...)
	s := e.Isolates()
	turn := e.Ok(s)
	e.Decides("diff/accept", world.Obj{"path": "f"})
	e.Decides("diff/accept", world.Obj{"path": "made"})
	require.Contains(t, w.Get("f"), "three")
	w.Makes("sed -i '1i mine' f")
	e.Diffs()
	then := w.Listing()
	out := rewinds(e, turn, nil)
	require.Empty(t, out.Skipped)
	require.Equal(t, "mine\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", w.Get("f"))
	require.Equal(t, w.Get("f"), w.Copied(s, "f"))
	require.Equal(t, w.Get("g"), w.Copied(s, "g"))
	w.Makes("test ! -e made && test ! -e " + w.CopyOf(s) + "/made")
	require.Empty(t, e.Diffs())
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, then, w.Listing())
	require.Equal(t, w.Get("f"), w.Copied(s, "f"))
	require.Contains(t, w.Copied(s, "g"), "five")
	require.Equal(t, "made\n", w.Copied(s, "made"))
	require.Contains(t, e.Diffs(), "g")
}

// TestWhy says where lines come from, over decisions, a person's changes, a move, and a restart.
func TestWhy(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 5 >f; printf 'a\\000b' >bin")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i '2a first line\\nsecond line' f")...)
	turn := e.Turn(world.Obj{"prompt": "add lines"})
	why := func(params world.Obj) (said []string) {
		var out struct{ Lines []api.WhyLine }
		params["workspace"] = w.Root
		e.Must("file/why", params, &out)
		for _, l := range out.Lines {
			text := fmt.Sprintf("%d-%d", l.From, l.To)
			if s := l.Source; s != nil {
				require.Equal(t, turn.SessionID, s.SessionID)
				require.Equal(t, turn.ID, s.TurnID)
				require.NotEmpty(t, s.ItemID)
				require.NotNil(t, s.At)
				text += fmt.Sprint(" ", s.Prompt, " ", s.State)
			}
			said = append(said, text)
		}
		return said
	}
	require.Equal(t, []string{"0-2", "2-4 add lines pending", "4-7"}, why(world.Obj{"path": "f"}))
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Makes("sed -i '1i mine' f")
	require.Equal(t, []string{"0-3", "3-5 add lines accepted", "5-8"}, why(world.Obj{"path": "f"}))
	require.Equal(t, []string{"4-5 add lines accepted", "5-6"}, why(world.Obj{"path": "f", "lines": world.Obj{"from": 4, "to": 6}}))
	w.Kill()
	w.Start()
	e = w.Opens()
	require.Equal(t, []string{"0-3", "3-5 add lines accepted", "5-8"}, why(world.Obj{"path": w.Path("f")}))
	require.Contains(t, w.CursordOK("why", "f:5"), "add lines")
	require.Empty(t, why(world.Obj{"path": "bin"}))
	require.Equal(t, -32001, e.Fails("file/why", world.Obj{"workspace": w.Root, "path": "none"}).Code)
	require.Equal(t, -32602, e.Fails("file/why", world.Obj{"workspace": w.Root, "path": "f", "lines": world.Obj{"from": 2, "to": 1}}).Code)
	w.Put("plain", "a\nb\n")
	require.Equal(t, []string{"0-2"}, why(world.Obj{"path": "plain"}))
	w.Makes("rm f")
	require.Equal(t, -32001, e.Fails("file/why", world.Obj{"workspace": w.Root, "path": "f"}).Code, "it is gone")
}

// TestHistorySize drops the histories that were changed longest ago, and says so.
func TestHistorySize(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "history_size = \"1KB\"\n")
	w.Makes("seq 9 >f; seq 500 >g")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/3/three/ f")...)
	turn := e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Plays(commands("sed -i 's/^/some other text /' g")...)
	e.Turn(world.Obj{"sessionId": turn.SessionID, "prompt": "more"})
	e.Message("info", "history_size")
	out := rewinds(e, turn, nil)
	var forgotten []string
	for _, s := range out.Skipped {
		if s.Kind == api.KindForgotten {
			forgotten = append(forgotten, s.Path)
		}
	}
	require.Contains(t, strings.Join(forgotten, " "), "f")
}
