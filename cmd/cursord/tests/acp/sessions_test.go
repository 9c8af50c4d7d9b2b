//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

type listed struct {
	Sessions []struct {
		SessionID, CWD, Title, UpdatedAt string
	}
	NextCursor string
}

// TestSessions: a session that another editor left is listed, loaded with all that was said, resumed without, and deleted.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines([]string{world.Thinks("hm"), world.ThoughtEnd, world.Piece("Hello"), world.Flush("Hello")}, world.Edits("c1", "f", "1\n", "2\n"))...)
	w.Put("f", "1\n")
	first := opens(w, nil)
	s := first.session()
	first.session() // which is never used
	mark := first.mark()
	require.Equal(t, "end_turn", first.prompts(s, "Say hello"))
	live := first.updates(s, mark, "")

	c := opens(w, nil)
	require.NoError(t, os.Symlink(w.Root, w.Path("../link")))
	var list listed
	c.must("session/list", world.Obj{"cwd": w.Path("../link")}, &list)
	require.Len(t, list.Sessions, 1, "those without a prompt are left out")
	require.Equal(t, []string{s, w.Path("../link"), "Say hello"}, []string{list.Sessions[0].SessionID, list.Sessions[0].CWD, list.Sessions[0].Title})
	_, err := time.Parse(time.RFC3339, list.Sessions[0].UpdatedAt)
	require.NoError(t, err)
	c.must("session/list", world.Obj{"cursor": nil}, &list)
	require.Len(t, list.Sessions, 1)
	require.Equal(t, -32602, c.fails("session/list", world.Obj{"cursor": "nonsense"}).Code)
	require.Equal(t, -32602, c.fails("session/list", world.Obj{"cwd": "here"}).Code)
	for _, nobodyKnows := range []string{"/no/such/folder", w.Folder("empty")} {
		c.must("session/list", world.Obj{"cwd": nobodyKnows}, &list)
		require.Empty(t, list.Sessions)
	}
	c.must("session/list", world.Obj{"cwd": w.Folder("empty")}, &list)
	require.Empty(t, list.Sessions)

	load := world.Obj{"sessionId": s, "cwd": w.Path("../link"), "mcpServers": []any{}}
	mark = c.mark()
	id := c.sends("session/load", load)
	require.NoError(t, c.answers(id, nil))
	replayed := c.updates(s, mark, id)
	require.Equal(t, "Say hello", said(replayed, "user_message_chunk"))
	require.Equal(t, "Hello", said(replayed, "agent_message_chunk"))
	require.Equal(t, "hm", said(replayed, "agent_thought_chunk"))
	calls, before := callsOf(replayed), callsOf(live)
	require.Len(t, calls, 1)
	require.Equal(t, []string{"completed"}, calls[0].statuses, "one update for each call")
	require.Equal(t, strings.ReplaceAll(fmt.Sprint(before[0].content), w.Root, w.Path("../link")), fmt.Sprint(calls[0].content))
	require.Equal(t, w.Path("../link/f"), calls[0].path, "paths are as the editor spells the folder")
	require.Equal(t, before[0].id, calls[0].id, "ids stay")

	mark = c.mark()
	id = c.sends("session/resume", world.Obj{"sessionId": s, "cwd": w.Root})
	require.NoError(t, c.answers(id, nil))
	for _, u := range c.updates(s, mark, id) {
		require.Contains(t, []string{"config_option_update", "available_commands_update"}, u.Update.SessionUpdate, "nothing is said again")
	}
	c.update(mark, "available_commands_update")

	require.Equal(t, -32002, c.fails("session/load", world.Obj{"sessionId": "nobody", "cwd": w.Root, "mcpServers": nil}).Code)
	e := c.fails("session/load", world.Obj{"sessionId": s, "cwd": w.Dir, "mcpServers": nil})
	require.Equal(t, -32602, e.Code)
	require.Contains(t, e.Message, w.Root)
	require.Equal(t, -32602, c.fails("session/new", world.Obj{"cwd": w.Path("missing"), "mcpServers": nil}).Code)
	for _, wrong := range []any{[]string{"x"}, []any{w.Root, 1}, w.Root, world.Obj{"path": w.Root}, true} {
		require.Equal(t, -32602, c.fails("session/new", world.Obj{"cwd": w.Root, "additionalDirectories": wrong}).Code, "%v", wrong)
	}
	for _, none := range []any{nil, world.Obj{}, []string{}} {
		c.must("session/new", world.Obj{"cwd": w.Root, "additionalDirectories": none}, nil)
	}

	c.must("session/close", world.Obj{"sessionId": s}, nil)
	require.Equal(t, -32002, c.fails("session/close", world.Obj{"sessionId": s}).Code)
	require.Equal(t, -32002, c.fails("session/prompt", world.Obj{"sessionId": s, "prompt": words("x")}).Code)
	for range 2 {
		c.must("session/delete", world.Obj{"sessionId": s}, nil)
	}
	c.must("session/list", world.Obj{}, &list)
	require.Empty(t, list.Sessions)
	require.Equal(t, -32602, c.fails("session/delete", world.Obj{}).Code)
}

// TestDiffsOfALoad: calls that do not say what they changed, as commands and all calls of the driver acp, come with what is left to review.
func TestDiffsOfALoad(t *testing.T) {
	t.Parallel()
	for driver, end := range map[string]string{"print": world.Succeeds(""), "acp": ""} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("../config.toml", "driver = \""+driver+"\"\n")
			w.Trusts()
			w.Plays(`{"fake":"edit","path":"f","text":"agent\n"}`, `{"fake":"shell","command":"echo shell >g"}`, end)
			first := opens(w, nil)
			s := first.session()
			mark := first.mark()
			require.Equal(t, "end_turn", first.prompts(s, "Do it"))
			live := callsOf(first.updates(s, mark, ""))

			c := opens(w, nil)
			c.loads(s)
			loaded := callsOf(c.updates(s, 0, ""))
			require.Len(t, loaded, 2)
			for i, call := range loaded {
				require.Contains(t, fmt.Sprint(call.content), "newText", call.id)
				require.Equal(t, fmt.Sprint(live[i].content), fmt.Sprint(call.content), "as it was live")
			}
		})
	}
}

// TestNothingBeforeTheSession: editors drop updates of sessions that they do not know yet, so there are none before the answer.
func TestNothingBeforeTheSession(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	c := opens(w, nil)
	id := c.sends("session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}})
	c.update(0, "available_commands_update")
	for _, m := range c.all() {
		require.NotEqual(t, "session/update", m.Method)
		if string(m.ID) == id {
			break
		}
	}
}

// TestLongHistory: ten thousand items come as one message each, in order, before the answer; an editor may read them slowly.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	id, items := longSession(w, 100, 100)
	c := opens(w, nil)
	c.stopsReading()
	load := c.sends("session/load", world.Obj{"sessionId": id, "cwd": w.Root, "mcpServers": []any{}})
	require.Never(t, func() bool { return c.mark() > 1000 }, 200*time.Millisecond, 50*time.Millisecond)
	c.reads()
	require.NoError(t, c.answers(load, nil))
	all := c.updates(id, 0, load)
	chunks := 0
	var last string
	for _, u := range all {
		if kind := u.Update.SessionUpdate; kind == "agent_message_chunk" {
			require.NotEqual(t, last, u.Update.MessageID, "one chunk a message")
			require.Equal(t, fmt.Sprintf("item %d ", chunks), u.text()[:len(fmt.Sprintf("item %d ", chunks))])
			last = u.Update.MessageID
			chunks++
		}
	}
	require.Equal(t, items, chunks)
	require.Len(t, said(all, "user_message_chunk"), 100*len("Go on"))
}

// longSession imports a session with so many turns of so many messages.
func longSession(w *world.World, turns, each int) (id string, items int) {
	w.T.Helper()
	at := sessions.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	id = "long"
	lines := []api.ExportLine{{Session: &sessions.Session{ID: id, Workspace: w.Root, Title: "long", Mode: sessions.ModeAgent, Turns: turns, CreatedAt: at, UpdatedAt: at}}}
	for n := range turns {
		turn := &sessions.Turn{ID: fmt.Sprintf("turn-%d", n), SessionID: id, Prompt: "Go on", Mode: sessions.ModeAgent, Status: sessions.TurnCompleted, CreatedAt: at, StartedAt: &at}
		lines = append(lines, api.ExportLine{ExportPart: api.ExportPart{Turn: turn}})
		for i := range each {
			lines = append(lines, api.ExportLine{ExportPart: api.ExportPart{Item: &sessions.Item{
				TurnID: turn.ID, Index: i, Kind: sessions.ItemAssistant, Status: sessions.ItemCompleted,
				Text: fmt.Sprintf("item %d %s", items, strings.Repeat("words ", 100)), StartedAt: at,
			}}})
			items++
		}
	}
	path := w.Path("../long.ndjson")
	w.WritesExport(path, append(lines, api.ExportLine{End: &api.ExportEnd{Turns: turns, Items: items}})...)
	w.CursordOK("import", path)
	return id, items
}

// TestOtherClients: what another client asks in a session that is open here comes here, with its prompt, and session/cancel ends it.
func TestOtherClients(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	s := c.session()
	e := w.Joins()
	turn := e.Asks(world.Obj{"sessionId": s, "prompt": "from elsewhere"})
	c.update(0, "user_message_chunk", "from elsewhere")
	c.update(0, "agent_message_chunk", "begun")
	w.Put("../go", "")
	c.update(0, "agent_message_chunk", "gone on")
	require.NoError(t, e.Call("turn/wait", world.Obj{"turnId": turn.ID}, nil))

	w.Plays(waiting("never")...)
	mark := c.mark()
	turn = e.Asks(world.Obj{"sessionId": s, "prompt": "and again"})
	c.update(mark, "agent_message_chunk", "begun")
	c.notifies("session/cancel", world.Obj{"sessionId": s})
	var ended rpc.TurnResult
	require.NoError(t, e.Call("turn/wait", world.Obj{"turnId": turn.ID}, &ended))
	require.Equal(t, sessions.TurnCancelled, ended.Turn.Status)

	mark = c.mark()
	e.Must("session/update", world.Obj{"sessionId": s, "mode": "plan", "title": "Another title"}, nil)
	c.update(mark, "session_info_update", "Another title")
	c.update(mark, "current_mode_update", "plan")
	c.update(mark, "config_option_update")

	// A mode that the editor chooses as one of the options is one of its modes, too. An editor that chooses a mode knows it.
	mark = c.mark()
	c.must("session/set_config_option", world.Obj{"sessionId": s, "configId": "mode", "value": "ask"}, nil)
	c.update(mark, "current_mode_update", "ask")
	mark = c.mark()
	c.must("session/set_mode", world.Obj{"sessionId": s, "modeId": "plan"}, nil)
	c.update(mark, "config_option_update", "plan")
	for _, u := range c.updates(s, mark, "") {
		require.NotEqual(t, "current_mode_update", u.Update.SessionUpdate)
	}
}

// TestJoinsRunningTurn: an editor that loads or resumes a session whose turn runs gets the rest of it, each word once, and may cancel it.
func TestJoinsRunningTurn(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"session/load", "session/resume"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := trusted(t, world.Playing([]string{
				world.Piece("one "), world.Piece("two "), world.Started("c1", `{"shellToolCall":{"args":{"command":"make"}}}`), world.Waits("go"),
				world.Completed("c1", `{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"exitCode":0,"stdout":"","stderr":""}}}}`),
				world.Piece("three"), world.Waits("end"), world.Succeeds(""),
			})...)
			first := opens(w, nil)
			s := first.session()
			first.asks(s, "Count")
			first.update(0, `"tool_call"`)
			first.in.Close() // its editor ends
			c := opens(w, nil)
			c.must(how, world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}, nil)
			w.Put("../go", "")
			c.update(0, "three")
			all := c.updates(s, 0, "")
			if how == "session/load" {
				require.Equal(t, "one two three", said(all, "agent_message_chunk"))
				require.Equal(t, "Count", said(all, "user_message_chunk"))
				require.Equal(t, []string{"in_progress", "completed"}, callsOf(all)[0].statuses)
			} else {
				require.Equal(t, "three", said(all, "agent_message_chunk"))
				require.Empty(t, said(all, "user_message_chunk"))
				require.Len(t, callsOf(all), 1, "a call that is open begins, and then ends")
			}
			c.notifies("session/cancel", world.Obj{"sessionId": s})
			require.Eventually(t, func() bool { return turnsOf(w, s)[0].Status == sessions.TurnCancelled }, world.Patience, 10*time.Millisecond)
		})
	}
}

// TestFork: a session goes on twice.
func TestFork(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines([]string{world.Piece("Hello"), world.Flush("Hello")})...)
	c := opens(w, nil)
	s := c.session()
	c.prompts(s, "Say hello")
	var made struct {
		SessionID     string
		ConfigOptions []option
	}
	c.must("_cursord/session/fork", world.Obj{"sessionId": s}, &made)
	require.NotEqual(t, s, made.SessionID)
	require.NotEmpty(t, made.ConfigOptions)
	mark := c.mark()
	require.Equal(t, "end_turn", c.prompts(made.SessionID, "Again"))
	require.Contains(t, said(c.updates(made.SessionID, mark, ""), "agent_message_chunk"), "Hello")
	require.Equal(t, -32002, c.fails("_cursord/session/fork", world.Obj{"sessionId": "nobody", "cwd": w.Root}).Code)
	require.Equal(t, -32002, c.fails("_cursord/session/fork", world.Obj{"sessionId": "nobody"}).Code)
	require.Equal(t, -32602, c.fails("_cursord/session/fork", world.Obj{"cwd": w.Root}).Code)
	c.must("session/close", world.Obj{"sessionId": s}, nil)
	c.must("_cursord/session/fork", world.Obj{"sessionId": s}, &made)

	other := w.Path("../other")
	require.NoError(t, os.Mkdir(other, 0o755))
	var before, after struct{ Sessions []struct{ SessionID string } }
	c.must("session/list", world.Obj{}, &before)
	require.Equal(t, -32602, c.fails("_cursord/session/fork", world.Obj{"sessionId": s, "cwd": other}).Code)
	c.must("session/list", world.Obj{}, &after)
	require.Equal(t, before, after, "a fork that is refused is not made")
}

// TestLoadsAtOnce: two loads of one session on one connection are both answered, one after the other; one that is cancelled leaves the session as it was.
func TestLoadsAtOnce(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Playing([]string{world.Piece("one "), world.Waits("go"), world.Piece("two"), world.Succeeds("")})...)
	first := opens(w, nil)
	s := first.session()
	prompt := first.asks(s, "Count")
	first.update(0, "one")
	load := world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}
	c := opens(w, nil)
	mark := c.mark()
	ids := []string{c.sends("session/load", load), c.sends("session/load", load), c.sends("session/resume", load)}
	for _, id := range ids {
		require.NoError(t, c.answers(id, nil))
	}
	require.Equal(t, "CountCount", said(c.updates(s, mark, ""), "user_message_chunk"), "each load has the history once")

	for range 5 { // each at another moment
		other := opens(w, nil)
		id := other.sends("session/load", load)
		other.notifies("$/cancel_request", world.Obj{"requestId": json.RawMessage(id)})
		if err := other.answers(id, nil); err != nil {
			require.Equal(t, -32002, other.fails("session/prompt", world.Obj{"sessionId": s, "prompt": words("x")}).Code, "it is not open")
		}
		other.in.Close()
	}
	id := first.sends("session/load", load)
	first.notifies("$/cancel_request", world.Obj{"requestId": json.RawMessage(id)})
	_ = first.answers(id, nil)
	w.Put("../go", "")
	require.Equal(t, "end_turn", first.stops(prompt))
	first.update(0, "two")
	require.Len(t, turnsOf(w, s), 1)
}
