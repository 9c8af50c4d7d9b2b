//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestResend takes a turn back and starts another in one step: both happen, or neither.
func TestResend(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/2/two/ f")...)
	first := e.Turn(world.Obj{"prompt": "first"})
	w.Plays(commands("sed -i s/5/five/ f")...)
	second := e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
	then := w.Listing()

	starts := func(more world.Obj) world.Obj {
		params := world.Obj{"workspace": w.Root, "sessionId": first.SessionID, "prompt": "another", "turnId": "another", "rewind": second.ID}
		for k, v := range more {
			params[k] = v
		}
		return params
	}
	for field, wrong := range map[string]world.Obj{
		"addDirs":   {"addDirs": []string{"/nowhere/at/all"}},
		"sessionId": {"sessionId": ""},
		"recap":     {"recap": true},
		"driver":    {"driver": "acp"},
	} {
		err := e.Fails("turn/start", starts(wrong))
		require.Contains(t, err.Data.Field, field)
		require.Equal(t, then, w.Listing())
		var all api.Transcript
		e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
		require.Len(t, all.Turns, 2)
	}
	require.Equal(t, api.KindNotFound, e.Fails("turn/start", starts(world.Obj{"rewind": "nothing"})).Data.Kind)

	w.Plays(commands("sed -i s/7/seven/ f")...)
	var begun struct {
		Turn    *sessions.Turn
		Rewound *api.Rewound
	}
	e.Must("turn/start", starts(nil), &begun)
	require.Equal(t, []string{second.ID}, begun.Rewound.Turns)
	require.Equal(t, 1, begun.Rewound.Applied)
	e.Must("turn/wait", world.Obj{"turnId": "another"}, nil)
	require.Equal(t, "1\ntwo\n3\n4\n5\n6\nseven\n8\n9\n", w.Get("f"))
	var all api.Transcript
	e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
	require.Len(t, all.Turns, 2)
	require.Equal(t, "another", all.Turns[1].ID)
	runs := w.Runs()
	require.NotContains(t, runs[len(runs)-1].Args, "--resume")
	require.Contains(t, runs[len(runs)-1].Prompt, "[user]\nfirst\n")

	begun.Rewound = nil
	e.Must("turn/start", starts(nil), &begun)
	require.Equal(t, "another", begun.Turn.ID, "a repetition gets the turn")
	require.Nil(t, begun.Rewound)
}

// TestTitleOfAFirstPromptThatIsReplaced: the title that the first prompt has given goes with it, one that a person has given stays.
func TestTitleOfAFirstPromptThatIsReplaced(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	first := e.Turn(world.Obj{"prompt": "first"})
	second := e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
	title := func(after world.Obj) string {
		after["sessionId"] = first.SessionID
		first = e.Turn(after)
		var all api.Transcript
		e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
		return all.Session.Title
	}
	require.Equal(t, "first", title(world.Obj{"prompt": "third", "rewind": second.ID}))
	var all api.Transcript
	e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
	require.Equal(t, "another", title(world.Obj{"prompt": "another", "rewind": all.Turns[0].ID}))
	e.Must("session/update", world.Obj{"sessionId": first.SessionID, "title": "named"}, nil)
	require.Equal(t, "named", title(world.Obj{"prompt": "last", "rewind": first.ID}))
}

// TestRewindOfAnUnsavedFile: an editor holds a file unsaved that a rewind would change. Nothing is taken back, also not of other files; once
// the turn went all the same, and its change of the file stayed for good.
func TestRewindOfAnUnsavedFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f; seq 9 >g; seq 9 >h")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/2/two/ f; sed -i s/2/two/ g")...)
	turn := e.Turn(nil)
	f, h := e.OpenDocument("f"), e.OpenDocument("h")
	f.Types("9\n", "nine\n")
	h.Types("9\n", "nine\n")
	then := w.Listing()
	rewind := world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}
	for method, params := range map[string][]world.Obj{
		"session/rewind": {rewind, {"sessionId": turn.SessionID, "turnId": turn.ID, "dryRun": true}},
		"turn/start":     {{"workspace": w.Root, "sessionId": turn.SessionID, "prompt": "another", "rewind": turn.ID}},
	} {
		for _, p := range params {
			err := e.Fails(method, p)
			require.Equal(t, api.KindConflict, err.Data.Kind)
			require.Equal(t, "f has unsaved changes in an editor", err.Message)
			require.Equal(t, "save it and try again", err.Data.Hint)
			require.Equal(t, then, w.Listing())
		}
	}
	f.Save()
	out := rewinds(e, turn, nil)
	require.Equal(t, 2, out.Applied)
	require.Empty(t, out.Skipped)
	require.Equal(t, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", w.Get("f"))
}

// TestRedoOfARewindThatAnEditorLoadedLate: an editor shows the file as it is on the disk, and reports each text that it loads. The rewind's text came when
// its undo was on the disk already, and the redo was refused.
func TestRedoOfARewindThatAnEditorLoadedLate(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("seq 9 >f")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i s/2/two/ f")...)
	turn := e.Turn(nil)
	f := e.OpenDocument("f")
	e.Diffs()
	rewinds(e, turn, nil)
	rewound := w.Get("f")
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	f.Set(rewound)
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, rewound, w.Get("f"))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	f.Types("9\n", "nine\n")
	require.Equal(t, "f has unsaved changes in an editor", e.Fails("diff/redo", world.Obj{"workspace": w.Root}).Message)
}
