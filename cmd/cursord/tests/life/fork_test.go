//go:build unix

package life

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// forks makes a fork.
func forks(e *world.Editor, params world.Obj) *sessions.Session {
	var made struct{ Session *sessions.Session }
	e.Must("session/fork", params, &made)
	return made.Session
}

// transcript is what a session's turns and items say, without what a fork changes.
func transcript(e *world.Editor, session string) (lines []string) {
	var all api.Transcript
	e.Must("session/read", world.Obj{"sessionId": session, "limit": 1000}, &all)
	for _, turn := range all.Turns {
		lines = append(lines, fmt.Sprint(turn.Prompt, " ", turn.Status, " ", turn.CreatedAt, " ", turn.Usage))
		for _, it := range all.Items {
			if it.TurnID == turn.ID {
				if it.SessionID != session {
					lines = append(lines, "of another session")
				}
				var whole struct{ Item *sessions.Item }
				e.Must("item/read", world.Obj{"itemId": it.ID}, &whole)
				lines = append(lines, fmt.Sprint(it.Index, " ", it.Kind, " ", it.Status, " ", it.Text, " ", it.StartedAt))
				if it.Tool != nil {
					lines = append(lines, fmt.Sprint(it.Tool.Title, " ", len(whole.Item.Tool.Output)))
				}
			}
		}
	}
	return lines
}

// TestFork forks a session at its end, at a turn, while it runs, and a fork; each fork begins a fresh chat with its transcript.
func TestFork(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	long := strings.Repeat("output ", 10_000)
	w.Plays(world.InitLine, world.Piece("It is a list."),
		`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"exitCode":0,"stdout":"`+long+`"}}}}}`,
		world.Succeeds("It is a list."))
	first := e.Turn(world.Obj{"prompt": "what is this?"})
	second := e.Turn(world.Obj{"sessionId": first.SessionID, "prompt": "go on"})
	before := transcript(e, first.SessionID)
	require.Contains(t, strings.Join(before, "\n"), fmt.Sprint("make ", len(long)))

	whole := forks(e, world.Obj{"sessionId": first.SessionID})
	require.Equal(t, "what is this? (fork)", whole.Title)
	require.Equal(t, &sessions.Fork{SessionID: first.SessionID, TurnID: second.ID}, whole.ForkedFrom)
	require.Nil(t, whole.AgentSessionID)
	require.Equal(t, sessions.SessionIdle, whole.State)
	require.Equal(t, 2, whole.Turns)
	require.Equal(t, before, transcript(e, whole.ID))
	half := forks(e, world.Obj{"sessionId": first.SessionID, "turnId": first.ID, "title": "half"})
	require.Equal(t, "half", half.Title)
	require.Equal(t, &sessions.Fork{SessionID: first.SessionID, TurnID: first.ID}, half.ForkedFrom)
	require.Equal(t, before[:len(before)/2], transcript(e, half.ID))

	// Its first turn has the transcript in a fresh chat; also its second, if that was queued before; the third resumes.
	w.Plays(world.InitLine, world.Succeeds("Done."))
	e.Turn(world.Obj{"sessionId": half.ID, "prompt": "another way"})
	run := w.Runs()[2]
	require.NotContains(t, run.Args, "--resume")
	require.Contains(t, run.Prompt, "<transcript>\n[user]\nwhat is this?\n\n[you]\nIt is a list.\n")
	require.NotContains(t, run.Prompt, "[user]\ngo on\n")
	e.Turn(world.Obj{"sessionId": half.ID, "prompt": "more"})
	require.Contains(t, w.Runs()[3].Args, run.Session)
	require.Equal(t, "more", w.Runs()[3].Prompt)
	require.Equal(t, before, transcript(e, first.SessionID), "the old one is untouched")

	// A fork of a fork; its turns that were there before are copies, too.
	again := forks(e, world.Obj{"sessionId": half.ID})
	require.Equal(t, "half (fork)", again.Title)
	require.Equal(t, transcript(e, half.ID), transcript(e, again.ID))
	require.Equal(t, half.ID, again.ForkedFrom.SessionID)

	// A session without turns; its fork gets the title of its first prompt.
	var empty struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "mode": "plan", "model": "m"}, &empty)
	none := forks(e, world.Obj{"sessionId": empty.Session.ID})
	require.Equal(t, &sessions.Fork{SessionID: empty.Session.ID}, none.ForkedFrom)
	require.Equal(t, sessions.ModePlan, none.Mode)
	require.Equal(t, "m", *none.Model)
	e.Turn(world.Obj{"sessionId": none.ID, "prompt": "hello"})
	require.Equal(t, "hello", w.Runs()[4].Prompt)

	// While a turn runs, the fork ends before it.
	w.Plays(world.InitLine, world.Waits("go"), world.Succeeds("Done."))
	running := e.Asks(world.Obj{"sessionId": first.SessionID, "prompt": "slowly"})
	queued := e.Asks(world.Obj{"sessionId": first.SessionID, "prompt": "later"})
	e.Must("turn/cancel", world.Obj{"turnId": queued.ID}, nil)
	require.Equal(t, second.ID, forks(e, world.Obj{"sessionId": first.SessionID}).ForkedFrom.TurnID)
	require.Equal(t, -32002, e.Fails("session/fork", world.Obj{"sessionId": first.SessionID, "turnId": running.ID}).Code)
	w.Put("../go", "")
	e.Ends(running.ID)

	for _, bad := range []struct {
		params world.Obj
		code   int
		field  string
	}{
		{world.Obj{"sessionId": "nobody"}, -32001, ""},
		{world.Obj{"sessionId": first.SessionID, "turnId": "nobody"}, -32001, ""},
		{world.Obj{"sessionId": half.ID, "turnId": first.ID}, -32602, "turnId"},
		{world.Obj{"sessionId": half.ID, "isolation": ""}, -32602, "isolation"},
		{world.Obj{"sessionId": half.ID, "isolation": "x"}, -32602, "isolation"},
		{world.Obj{"sessionId": half.ID, "title": strings.Repeat("x", 5<<10)}, -32602, "title"},
	} {
		failed := e.Fails("session/fork", bad.params)
		require.Equal(t, bad.code, failed.Code, "%v", bad.params)
		require.Equal(t, bad.field, failed.Data.Field, "%v", bad.params)
	}

	// It outlives the session that it was forked from, and the daemon.
	e.Must("session/delete", world.Obj{"sessionId": first.SessionID}, nil)
	require.Equal(t, -32001, e.Fails("session/fork", world.Obj{"sessionId": first.SessionID}).Code)
	w.Kill()
	w.Start()
	e = w.Opens()
	require.Equal(t, before, transcript(e, whole.ID))
	world.Audit(t, e.All())

	tree := w.CursordOK("sessions", "--tree")
	require.Less(t, strings.Index(tree, "half "), strings.Index(tree, "└ half (fork) "), tree)
	id := strings.TrimSpace(w.CursordOK("fork", whole.ID, "--title", "by hand"))
	require.Contains(t, w.CursordOK("sessions", "--tree"), "└ by hand ")
	require.Contains(t, w.CursordOK("show", id), "It is a list.")
	require.Contains(t, w.CursordOK("fork", "--json", whole.ID), `"forkedFrom": {`)

	// Exported and imported, it is the same fork.
	file := w.Root + "/fork.ndjson"
	require.NoError(t, os.WriteFile(file, []byte(w.CursordOK("export", "--format", "ndjson", id)), 0o600))
	e.Must("session/delete", world.Obj{"sessionId": id}, nil)
	var back struct{ Session *sessions.Session }
	e.Must("session/import", world.Obj{"path": file}, &back)
	require.Equal(t, whole.ID, back.Session.ForkedFrom.SessionID)
	require.Equal(t, before, transcript(e, id))
}

// TestForksOfIsolatedSessions: a fork works in a copy of its own, or in the workspace if it is asked to.
func TestForksOfIsolatedSessions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "one\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Playing([]string{world.InitLine}, world.Writes("a.txt", "two\n"), []string{world.Succeeds("")})...)
	s := e.Isolates()
	e.Ok(s)
	fork := forks(e, world.Obj{"sessionId": s.ID})
	require.Equal(t, "copy", fork.Isolation)
	w.Plays(world.InitLine, `{"fake":"exec","argv":["sh","-c","cat a.txt >seen.txt"]}`, world.Succeeds(""))
	e.Ok(fork)
	require.Equal(t, "one\n", w.Copied(fork, "seen.txt"), "what waits in the other copy stays there")
	plain := forks(e, world.Obj{"sessionId": s.ID, "isolation": "none"})
	require.Equal(t, "none", plain.Isolation)
}

// TestForkKeepsImages: the images that went with a prompt stay when the session that they came with is deleted.
func TestForkKeepsImages(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, world.Succeeds(""))
	turn := e.Turn(world.Obj{"prompt": "see?", "context": []world.Obj{
		{"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte(world.GIFBytes))}}})
	fork := forks(e, world.Obj{"sessionId": turn.SessionID})
	e.Must("session/delete", world.Obj{"sessionId": turn.SessionID}, nil)
	var all api.Transcript
	e.Must("session/read", world.Obj{"sessionId": fork.ID}, &all)
	require.Len(t, all.Turns[0].Images, 1)
	require.FileExists(t, all.Turns[0].Images[0])
	e.Must("session/delete", world.Obj{"sessionId": fork.ID}, nil)
	require.Empty(t, w.Kept())
}

// TestHugeFork copies a transcript of many parts; what a crash leaves of one is nothing.
func TestHugeFork(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	lines := []string{world.InitLine}
	for i := range 1500 {
		lines = append(lines, world.Thinks(fmt.Sprint("thought ", i, strings.Repeat(".", 1000))), world.Piece(fmt.Sprint("text ", i)))
	}
	w.Plays(append(lines, world.Succeeds(""))...)
	turn := e.Turn(world.Obj{"prompt": "much"})
	var from, to int
	count := func(session string) (n int) {
		params := world.Obj{"sessionId": session, "limit": 1000}
		for more := true; more; {
			var page api.Transcript
			e.Must("session/read", params, &page)
			n += len(page.Items)
			if more = page.More; more {
				params["before"] = page.Items[0].ID
			}
		}
		return n
	}
	fork := forks(e, world.Obj{"sessionId": turn.SessionID})
	from, to = count(turn.SessionID), count(fork.ID)
	require.Greater(t, from, 2000)
	require.Equal(t, from, to)

	// Kill the daemon while it copies: the fork has been announced, and is gone after the next start.
	var made string
	go func() { _ = e.Call("session/fork", world.Obj{"sessionId": turn.SessionID, "title": "cut off"}, nil) }()
	e.Until("the fork's beginning", func(n world.Notification) bool {
		if n.Session != nil && n.Session.Title == "cut off" {
			made = n.Session.ID
		}
		return made != ""
	})
	w.Kill()
	w.Start()
	e = w.Opens()
	if ids := e.SessionIDs(); slices.Contains(ids, made) { // it was complete before the daemon was killed
		require.Equal(t, from, count(made))
	}
}
