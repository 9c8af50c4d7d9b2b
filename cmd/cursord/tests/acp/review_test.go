//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// optionsOf returns the current values of the options, by their ids.
func optionsOf(all []option) map[string]any {
	values := map[string]any{}
	for _, o := range all {
		values[o.ID] = o.CurrentValue
	}
	return values
}

// TestOptions: the choices of a session are set for the turns that follow, by options and by modes.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, booleans := range []bool{true, false} {
		t.Run(fmt.Sprint(booleans), func(t *testing.T) {
			t.Parallel()
			w := trusted(t)
			capabilities := world.Obj{}
			if booleans {
				capabilities["session"] = world.Obj{"configOptions": world.Obj{"boolean": world.Obj{}}}
			}
			c := opens(w, capabilities)
			var made struct {
				SessionID     string
				Modes         struct{ CurrentModeID string }
				ConfigOptions []option
			}
			c.must("session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}}, &made)
			s := made.SessionID
			require.Equal(t, "agent", made.Modes.CurrentModeID)
			off, on := any("off"), any("on")
			if booleans {
				off, on = false, true
			}
			require.Equal(t, map[string]any{"mode": "agent", "model": "default", "isolation": "none", "sandbox": "default", "auto_review": off}, optionsOf(made.ConfigOptions))
			c.update(0, "config_option_update", "fake-large") // once the agent has told its models

			sets := func(id string, value any) map[string]any {
				t.Helper()
				params := world.Obj{"sessionId": s, "configId": id, "value": value}
				if _, is := value.(bool); is {
					params["type"] = "boolean"
				}
				var result struct{ ConfigOptions []option }
				c.must("session/set_config_option", params, &result)
				return optionsOf(result.ConfigOptions)
			}
			require.Equal(t, "plan", sets("mode", "plan")["mode"])
			require.Equal(t, "default", sets("model", "default")["model"])
			require.Equal(t, "fake-large", sets("model", "fake-large")["model"])
			require.Equal(t, "enabled", sets("sandbox", "enabled")["sandbox"])
			require.Equal(t, on, sets("auto_review", on)["auto_review"])
			require.Equal(t, "copy", sets("isolation", "copy")["isolation"])
			require.Equal(t, "none", sets("isolation", "none")["isolation"])
			for _, bad := range []world.Obj{
				{"configId": "nothing", "value": "x"}, {"configId": "mode", "value": "sing"}, {"configId": "mode", "value": true}, {"configId": "isolation"},
				{"configId": "model", "value": 5}, {"configId": "model", "value": "bogus-model"}, {"configId": "sandbox", "value": ""},
			} {
				bad["sessionId"] = s
				require.Equal(t, -32602, c.fails("session/set_config_option", bad).Code, "%v", bad)
			}
			mark := c.mark()
			c.must("session/set_mode", world.Obj{"sessionId": s, "modeId": "agent"}, nil)
			c.update(mark, "config_option_update", `"currentValue":"agent"`)
			require.Equal(t, -32602, c.fails("session/set_mode", world.Obj{"sessionId": s, "modeId": "sing"}).Code)
			require.Equal(t, -32002, c.fails("session/set_mode", world.Obj{"sessionId": "nobody", "modeId": "ask"}).Code)

			mark = c.mark()
			require.Equal(t, "end_turn", c.prompts(s, "Do it"))
			args := strings.Join(w.Runs()[0].Args, " ")
			for _, arg := range []string{"--model fake-large", "--sandbox enabled", "--auto-review"} {
				require.Contains(t, args, arg)
			}
			require.NotContains(t, args, "--mode ")
			c.update(mark, "config_option_update")
			require.Equal(t, -32602, c.fails("session/set_config_option", world.Obj{"sessionId": s, "configId": "isolation", "value": "copy"}).Code, "it has a turn")
		})
	}
}

// TestCommands: what is left to review is shown and decided in the prompt, without an agent.
func TestCommands(t *testing.T) {
	t.Parallel()
	before := world.Numbered(40, nil)
	after := world.Numbered(40, map[int]string{5: "agent 5\n", 30: "agent 30\n"})
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", before, after), world.Edits("c2", "dir/g.txt", "1\n", "2\n"))...)
	w.Put("f.txt", before)
	w.Put("dir/g.txt", "1\n")
	c := opens(w, nil)
	s := c.session()
	answer := func(session, text string) string {
		t.Helper()
		return said(c.goesThrough(session, text), "agent_message_chunk")
	}
	require.Contains(t, answer(s, "/review"), "Nothing to review")
	require.Contains(t, answer(s, "/accept"), "Nothing to decide")
	require.Contains(t, answer(s, "/undo"), "nothing to undo")
	titles := w.CursordOK("sessions")
	require.Contains(t, titles, "\n/review ", "a session of commands alone is called by the first")
	require.NotContains(t, titles, "(no title)")
	c.prompts(s, "Do it")
	require.Contains(t, w.CursordOK("sessions"), "\nDo it ")
	runs := len(w.Runs())

	text := answer(s, "/review")
	require.Contains(t, text, "3 hunks in 2 files")
	require.Contains(t, text, "```diff\n@@ -2,7 +2,7 @@\n")
	require.Contains(t, text, "+agent 5\n")
	other := c.session()
	require.NotContains(t, text, "besides")
	text = answer(s, "/review dir/g.txt")
	require.Contains(t, text, "This session has 2 hunks besides")
	require.NotContains(t, text, "Other sessions", "they have none")
	text = answer(other, "/review")
	require.Contains(t, text, "Nothing to review")
	require.Contains(t, text, "Other sessions have 3 hunks")
	require.Contains(t, text, "3 hunks")
	require.Contains(t, answer(other, "/review all"), "3 hunks in 2 files")
	require.Contains(t, answer(other, "/reject"), "Nothing to decide", "it has changed nothing")
	require.Contains(t, answer(other, "/review f.txt"), "Nothing to review.\n\nOther sessions have 3 hunks here")
	require.Equal(t, "2 hunks of other sessions there stayed. `/review all` shows them; name each by its id to decide about it.\n", answer(other, "/reject f.txt"))
	require.Equal(t, after, w.Get("f.txt"))

	require.Contains(t, answer(s, "/reject dir"), "Rejected 1 hunk")
	require.Equal(t, "1\n", w.Get("dir/g.txt"))
	require.Contains(t, answer(s, "/undo"), "reject of 1 hunk")
	require.Equal(t, "2\n", w.Get("dir/g.txt"))
	var list rpc.DiffList
	c.must("_cursord/diff/list", world.Obj{"sessionId": s, "path": "f.txt"}, &list)
	require.Len(t, list.Diffs, 1)
	first := list.Diffs[0].Hunks[0].ID
	require.Contains(t, answer(s, "/reject "+first), "Rejected 1 hunk")
	require.Equal(t, world.Numbered(40, map[int]string{30: "agent 30\n"}), w.Get("f.txt"))
	require.Contains(t, answer(s, "/reject nothing.txt"), "no file and no hunk")
	require.Contains(t, answer(s, "/review nothing.txt"), "no file and no hunk")
	require.Contains(t, answer(s, "/review\t./dir/"), "1 hunk in 1 file")
	require.Contains(t, answer(s, "/Review 'dir/g.txt' f.txt"), "2 hunks in 2 files")
	require.Contains(t, answer(s, "/undo 3"), "takes nothing behind it")
	require.Contains(t, answer(s, `/reject ""`), "empty name")
	for _, block := range []world.Obj{
		{"type": "resource", "resource": world.Obj{"uri": "file://" + w.Path("nope.txt"), "text": "x"}}, {"type": "resource_link", "name": "x", "uri": "https://x/y"},
		{"type": "image", "data": "", "mimeType": "image/png"},
	} {
		mark := c.mark()
		id := c.sends("session/prompt", world.Obj{"sessionId": s, "prompt": []world.Obj{{"type": "text", "text": "/reject "}, block}})
		require.Equal(t, "end_turn", c.stops(id))
		require.Contains(t, said(c.updates(s, mark, id), "agent_message_chunk"), "no file and no hunk", "what names nothing is not everything")
	}
	mark := c.mark()
	id := c.sends("session/prompt", world.Obj{"sessionId": s, "prompt": []world.Obj{
		{"type": "text", "text": "/accept "}, {"type": "resource_link", "name": "f.txt", "uri": "file://" + w.Path("f.txt")},
	}})
	require.Equal(t, "end_turn", c.stops(id))
	require.Contains(t, said(c.updates(s, mark, id), "agent_message_chunk"), "Accepted 1 hunk")
	require.Contains(t, answer(s, "/accept all"), "Accepted 1 hunk")
	require.Contains(t, answer(s, "/review"), "Nothing to review")
	require.Contains(t, answer(s, "/sessions"), "Do it")
	require.Len(t, w.Runs(), runs, "no agent was asked")
	require.Equal(t, "end_turn", c.prompts(s, "/unknown goes to the agent"))
	require.Len(t, w.Runs(), runs+1)
}

// TestCommandDuringTurn: a command is answered while a turn runs.
func TestCommandDuringTurn(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	s := c.session()
	id := c.asks(s, "Do it")
	c.update(0, "begun")
	require.Equal(t, "end_turn", c.prompts(s, "/review"))
	w.Put("../go", "")
	require.Equal(t, "end_turn", c.stops(id))
}

// TestOwnMethods: decisions by methods, with the daemon's parameters, answers and errors.
func TestOwnMethods(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "f", "1\n", "2\n"))...)
	w.Put("f", "1\n")
	c := opens(w, nil)
	s := c.session()
	c.prompts(s, "Do it")
	var list rpc.DiffList
	c.must("_cursord/diff/list", world.Obj{"workspace": w.Root}, &list)
	require.Len(t, list.Diffs, 1)
	d := list.Diffs[0]
	e := c.fails("_cursord/diff/reject", world.Obj{"sessionId": s, "path": "f", "rev": d.Rev + 1})
	require.Equal(t, "conflict", string(e.Data.Kind))
	require.Equal(t, -32603, e.Code)
	require.NotNil(t, e.Data.Diff)
	var done struct{ Applied int }
	c.must("_cursord/diff/reject", world.Obj{"sessionId": s, "path": "f", "rev": d.Rev}, &done)
	require.Equal(t, 1, done.Applied)
	require.Equal(t, "1\n", w.Get("f"))
	c.must("_cursord/diff/undo", world.Obj{"sessionId": s}, nil)
	require.Equal(t, "2\n", w.Get("f"))
	c.must("_cursord/diff/accept", world.Obj{"workspace": w.Root, "all": true}, &done)
	require.Equal(t, 1, done.Applied)
	require.Equal(t, -32602, c.fails("_cursord/diff/accept", world.Obj{"sessionId": s}).Code)
	for _, method := range []string{"list", "accept", "reject", "undo"} {
		require.Equal(t, -32602, c.fails("_cursord/diff/"+method, world.Obj{}).Code)
		require.Equal(t, -32002, c.fails("_cursord/diff/"+method, world.Obj{"sessionId": "nobody"}).Code)
	}
}

// TestContent: what goes with a prompt reaches the agent, and what cannot is refused.
func TestContent(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	require.NoError(t, os.Symlink(w.Root, w.Path("../link")))
	c := opens(w, nil)
	var made struct{ SessionID string }
	c.must("session/new", world.Obj{"cwd": w.Path("../link"), "mcpServers": []any{}}, &made)
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	id := c.sends("session/prompt", world.Obj{"sessionId": made.SessionID, "prompt": []world.Obj{
		{"type": "text", "text": "Compare "}, {"type": "resource_link", "name": "a.go", "uri": "file://" + w.Path("../link/dir/a.go") + "#L3-7"},
		{"type": "text", "text": " with "}, {"type": "resource", "resource": world.Obj{"uri": "file://" + w.Path("b.go") + "#L10:20", "text": "selected"}},
		{"type": "resource", "resource": world.Obj{"uri": "file:///else/where%20c.go", "text": "whole"}},
		{"type": "text", "text": " as in "}, {"type": "resource_link", "name": "the manual", "uri": "https://example.org/x"},
		{"type": "image", "mimeType": "image/png", "data": png}, {"type": "resource", "resource": world.Obj{"uri": "shot:1", "mimeType": "image/png", "blob": png}},
	}})
	require.Equal(t, "end_turn", c.stops(id))
	prompt := w.Prompted()
	for _, part := range []string{
		"Compare @dir/a.go with @b.go @/else/where c.go as in [the manual](https://example.org/x)", `<file path="dir/a.go" lines="3-7" />`,
		"<selection path=\"b.go\" lines=\"10-20\">\nselected\n", "<text title=\"/else/where c.go\">\nwhole\n", "<image path=",
	} {
		require.Contains(t, prompt, part)
	}
	require.Len(t, turnsOf(w, made.SessionID)[0].Images, 2)
	again := opens(w, nil)
	again.loads(made.SessionID)
	again.update(0, "user_message_chunk", `"type":"image"`, png)
	require.NotContains(t, said(again.updates(made.SessionID, 0, ""), "user_message_chunk"), "[image:")
	for _, bad := range []any{
		nil, []any{}, "text", words("  "), []world.Obj{{"type": "audio", "data": "", "mimeType": "audio/wav"}}, []world.Obj{{"type": "video"}}, []world.Obj{{"type": "resource"}},
		[]world.Obj{{"type": "image", "mimeType": "image/png", "data": "!"}},
	} {
		raw, _ := json.Marshal(bad)
		require.Equal(t, -32602, c.fails("session/prompt", world.Obj{"sessionId": made.SessionID, "prompt": bad}).Code, "%s", raw)
	}
	for member, bad := range map[string]world.Obj{
		"prompt[1].data":     {"type": "image", "mimeType": "image/png", "data": "!"},
		"prompt[1].resource": {"type": "resource", "resource": world.Obj{"uri": "shot:1", "mimeType": "image/png", "blob": "!"}},
	} {
		e := c.fails("session/prompt", world.Obj{"sessionId": made.SessionID, "prompt": append(words("Look: "), bad)})
		require.Equal(t, member, e.Data.Field)
		require.Equal(t, 0, strings.Index(e.Message, member+": "), e.Message)
	}
}

// TestAuthenticate: the login is the agent's own.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	c := opens(w, nil)
	c.must("authenticate", world.Obj{"methodId": "whatever"}, nil)
}

// An editorFiles is an editor's own texts, which fs/… read and write.
type editorFiles struct {
	texts  map[string]string
	writes []string
	refuse string // what it refuses: a method, or a method and a name
}

func (f *editorFiles) answer(m rpc.Message) any {
	var p struct{ Path, Content string }
	_ = json.Unmarshal(m.Params, &p)
	switch text, open := f.texts[p.Path]; {
	case f.refuse == m.Method, f.refuse == m.Method+" "+filepath.Base(p.Path):
	case m.Method == "fs/read_text_file" && open:
		return world.Obj{"content": text}
	case m.Method == "fs/read_text_file":
		raw, _ := os.ReadFile(p.Path)
		return world.Obj{"content": string(raw)}
	case m.Method == "fs/write_text_file":
		f.writes = append(f.writes, p.Path)
		f.texts[p.Path] = p.Content
		_ = os.WriteFile(p.Path, []byte(p.Content), 0o644)
		return world.Obj{}
	}
	return &rpc.Error{Code: rpc.CodeInternal, Message: "no"}
}

// TestAcceptsByTheEditorNeedItsTexts: an editor that cannot say what it holds once lost its unsaved text.
func TestAcceptsByTheEditorNeedItsTexts(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	for _, fs := range []world.Obj{{"readTextFile": true, "writeTextFile": true}, {"readTextFile": true}, {"writeTextFile": true}} {
		c := opens(w, world.Obj{"fs": fs})
		var set struct{ ConfigOptions []option }
		c.must("session/set_config_option", world.Obj{"sessionId": c.session(), "configId": "isolation", "value": "copy"}, &set)
		_, offered := optionsOf(set.ConfigOptions)["write_through"]
		require.Equal(t, len(fs) == 2, offered, "%v", fs)
	}
}

// TestAcceptsByTheEditor: in a copy, an accept is written by the editor into the text that it holds, so that what is unsaved there stays.
func TestAcceptsByTheEditor(t *testing.T) {
	t.Parallel()
	before := world.Numbered(40, nil)
	after := world.Numbered(40, map[int]string{5: "agent 5\n", 30: "agent 30\n"})
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", before, after), world.Edits("c2", "g.txt", "1\n", "2\n"), world.Edits("c3", "new.txt", "(absent)", "new\n"))...)
	w.Put("f.txt", before)
	w.Put("g.txt", "1\n")
	c := opens(w, world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}, "session": world.Obj{"configOptions": world.Obj{"boolean": world.Obj{}}}})
	unsaved := "mine\n" + before
	files := &editorFiles{texts: map[string]string{w.Path("f.txt"): unsaved}}
	c.answering(files.answer)
	s := c.session()
	var set struct{ ConfigOptions []option }
	c.must("session/set_config_option", world.Obj{"sessionId": s, "configId": "isolation", "value": "copy"}, &set)
	require.Equal(t, false, optionsOf(set.ConfigOptions)["write_through"])
	c.must("session/set_config_option", world.Obj{"sessionId": s, "configId": "write_through", "type": "boolean", "value": true}, &set)
	require.Equal(t, true, optionsOf(set.ConfigOptions)["write_through"])
	c.prompts(s, "Do it")
	require.Equal(t, before, w.Get("f.txt"), "the agent works in a copy")

	says := func(words string) string {
		t.Helper()
		return said(c.goesThrough(s, words), "agent_message_chunk")
	}
	files.refuse = "fs/write_text_file g.txt"
	require.Contains(t, says("/accept g.txt"), "That did not work: the editor did not write g.txt")
	require.Equal(t, "1\n", w.Get("g.txt"))

	files.refuse = "fs/read_text_file"
	answer := says("/accept f.txt g.txt")
	require.Contains(t, answer, "Accepted nothing.")
	require.Contains(t, answer, "- `f.txt` stays")
	require.Contains(t, answer, "- `g.txt` stays")

	// Without the editor's text nothing is written: what is unsaved would be lost. The other files do not wait for that one.
	files.refuse = "fs/read_text_file f.txt"
	answer = says("/accept")
	require.Contains(t, answer, "Accepted 2 hunks by 2 decisions. `/undo` takes back one of these each time")
	require.Contains(t, answer, "- `f.txt` stays to be reviewed: the editor did not say what f.txt holds, so it was not accepted: fs/read_text_file: no")
	require.Equal(t, before, w.Get("f.txt"))
	require.Equal(t, []string{w.Path("g.txt")}, files.writes)
	require.Equal(t, "2\n", w.Get("g.txt"))
	require.Equal(t, "new\n", w.Get("new.txt"), "new files are written by the daemon")
	files.refuse = ""

	require.Contains(t, says("/accept"), "Accepted 2 hunks. `/undo` takes that back.")
	require.Equal(t, "mine\n"+after, w.Get("f.txt"))
	var list rpc.DiffList
	c.must("_cursord/diff/list", world.Obj{"sessionId": s}, &list)
	require.Empty(t, list.Diffs)
}

// TestDeleteKeepsACopyUnderReview: a session whose copy has something to review is not deleted, as by the command line.
func TestDeleteKeepsACopyUnderReview(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	w.Put("f.txt", "one\n")
	w.Plays(world.Lines(world.Edits("1", "f.txt", "one\n", "two\n"))...)
	c := opens(w, nil)
	s := c.session()
	c.must("session/set_config_option", world.Obj{"sessionId": s, "configId": "isolation", "value": "copy"}, nil)
	c.prompts(s, "Do it")
	e := c.fails("session/delete", world.Obj{"sessionId": s})
	require.Contains(t, e.Message, "the copy of session "+s+" has 1 hunk in 1 file to review, and they would be lost: nothing was deleted – /accept or /reject")
	require.Contains(t, said(c.goesThrough(s, "/reject"), "agent_message_chunk"), "Rejected 1 hunk.")
	c.must("session/delete", world.Obj{"sessionId": s}, nil)
	require.Equal(t, -32002, c.fails("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": nil}).Code)
}
