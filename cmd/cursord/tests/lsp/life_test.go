//go:build unix

package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// hangsUntil returns the lines of an agent that changes a file and then waits for a file named go.
func hangsUntil(path, before, after string) []string {
	all := append([]string{`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`}, world.Edits("c1", path, before, after)...)
	return append(all, `{"fake":"exec","argv":["sh","-c","until [ -e go ]; do sleep 0.02; done"]}`, world.Done)
}

// TestLSPEditorRestart: an editor that starts during a turn finds the turn, its session and its changes. An editor that
// ends, ends no turn.
func TestLSPEditorRestart(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Plays(hangsUntil("f", "1\n", "1\n2\n")...)
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "first")
	c.waitsForHunks("f", 1)
	c.must("shutdown", nil, nil)
	c.notify("exit", nil)
	c.until("its end", func() bool { return c.gone })

	c = lsp(w, world.LSPCapabilities(), nil)
	c.waitsForHunks("f", 1)
	c.hears("$/progress", `"begin"`)
	require.Contains(t, titlesOf(c.actions("file://"+w.Path("f"), 1, nil)), "Cancel the agent's turn")
	w.Put("go", "")
	c.hears("$/progress", `"end"`)
	c.hears("window/showMessage", "done")
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
	mark := c.mark()
	c.does("cursord.ask", "second")
	c.hearsAfter(mark, "window/showMessage", "done")
	require.Contains(t, strings.Join(w.Runs()[1].Args, " "), "--resume", "the session that was running goes on")
}

func titlesOf(list []langAction) (all []string) {
	for _, a := range list {
		all = append(all, a.Title)
	}
	return all
}

// TestLSPDaemonRestart kills the daemon during a turn: the editor gets a message, and goes on with the next daemon, which
// gets its unsaved text.
func TestLSPDaemonRestart(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
	w.Put("f", before)
	w.Plays(hangsUntil("f", before, after)...)
	w.Start()
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "first")
	c.hears("$/progress", `"begin"`)
	c.waitsForHunks("f", 1)
	d := c.opens("f")
	d.sets("mine\n" + after)
	c.until("the hunk to move", func() bool { l := c.lists[d.uri]; return len(l) == 1 && l[0].Range.Start.Line == 5 })
	mark := c.mark()
	w.Kill()
	c.hearsAfter(mark, "window/showMessage", "interrupted")
	c.hearsAfter(mark, "$/progress", `"end"`)
	c.hearsAfter(mark, "window/logMessage", "connected to the cursord daemon again")
	c.waitsForHunks("f", 1)
	c.does("cursord.reject", world.Obj{"path": "f", "line": 6})
	c.waitsForHunks("f", 0)
	c.eventually("the edit to be made", func() bool { return d.now() == "mine\n"+before })
	require.Equal(t, after, w.Get("f"))
}

// TestLSPCancelOfSeveral cancels a running turn and a waiting one: the end of the first does not start the second.
func TestLSPCancelOfSeveral(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Plays(hangsUntil("f", "1\n", "2\n")...)
	e := trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "go")
	c.waitsForHunks("f", 1)
	c.does("cursord.ask", "go on")
	c.hears("$/progress", `"cursord-turn-2"`, `"waiting"`) // the first one waits for a moment, too
	c.does("cursord.cancel")
	c.hears("$/progress", `"end"`, "cancelled")
	var list rpc.TurnList
	require.Eventually(t, func() bool {
		e.Must("turn/list", world.Obj{"workspace": w.Root, "active": true}, &list)
		return len(list.Turns) == 0
	}, world.Patience, 10*time.Millisecond)
	require.Len(t, w.Runs(), 1)
}

// TestLSPCancel ends turns by command and by the editor's own button.
func TestLSPCancel(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"command", "button"} {
		t.Run(how, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", "1\n")
			w.Plays(hangsUntil("f", "1\n", "2\n")...)
			trusted(w)
			c := lsp(w, world.LSPCapabilities(), nil)
			c.does("cursord.cancel")
			c.hears("window/showMessage", "no turn is running")
			c.does("cursord.ask", "go")
			begun := c.hears("$/progress", `"begin"`)
			c.waitsForHunks("f", 1)
			if how == "command" {
				c.does("cursord.cancel")
			} else {
				var p struct{ Token string }
				require.NoError(t, json.Unmarshal(begun.Params, &p))
				c.notify("window/workDoneProgress/cancel", world.Obj{"token": p.Token})
			}
			c.hears("window/showMessage", "cancelled – 1 hunk to review in 1 file")
			c.hears("$/progress", `"end"`, "cancelled")
		})
	}
}

// TestLSPProgress: the progress shows the steps of a turn, and its failure.
func TestLSPProgress(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Plays(
		`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"type":"tool_call","subtype":"started","call_id":"e","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/sub/f"}}}}`,
		`{"fake":"exec","argv":["sh","-c","until [ -e begin ]; do sleep 0.02; done"]}`,
		`{"type":"tool_call","subtype":"started","call_id":"m","tool_call":{"shellToolCall":{"args":{"command":"make all"}}}}`,
		`{"fake":"exec","argv":["sh","-c","until [ -e go ]; do sleep 0.02; done"]}`,
		`{"fake":"stderr","text":"Error: out of luck\n"}`, `{"fake":"exit","code":3}`)
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "go")
	c.hears("$/progress", `"Edit sub/f"`) // relative to the workspace
	w.Put("begin", "")
	c.hears("$/progress", "make all")
	w.Put("go", "")
	m := c.hears("window/showMessage", "failed: ", "out of luck")
	require.Contains(t, string(m.Params), `"type":1`)

	// An editor without progress bars gets a message at the end, too. An editor that refuses a bar gets none.
	can := world.LSPCapabilities()
	delete(can["window"].(world.Obj), "workDoneProgress")
	none := lsp(w, can, nil)
	refusing := lsp(w, world.LSPCapabilities(), nil)
	refusing.answering(func(m rpc.Message) any {
		if m.Method == "window/workDoneProgress/create" {
			return &rpc.Error{Code: rpc.CodeInternal, Message: "no"}
		}
		return nil
	})
	refusing.waitsUntilServed()
	none.waitsUntilServed()
	w.Plays(world.Done)
	none.does("cursord.ask", "again")
	none.hears("window/showMessage", "done")
	refusing.hears("window/showMessage", "done")
	for _, one := range []*langClient{none, refusing} {
		for _, m := range one.all() {
			require.NotEqual(t, "$/progress", m.Method)
		}
	}
}

// waitsUntilServed waits until the server has subscribed to the workspace.
func (c *langClient) waitsUntilServed() {
	c.t.Helper()
	mark := c.mark()
	c.does("cursord.undo")
	c.hearsAfter(mark, "window/showMessage", "nothing to undo")
}

// TestLSPSessions lists sessions in a file, resumes one of them, and shows its transcript.
func TestLSPSessions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	f := c.opens("f")
	for _, command := range []string{"cursord.resume", "cursord.transcript"} {
		mark := c.mark()
		c.does(command)
		c.hearsAfter(mark, "window/showMessage", "no session yet")
	}
	for _, name := range []string{"alpha", "beta"} {
		w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I did `+name+`"}]},"session_id":"{{session}}"}`, world.Done)
		mark := c.mark()
		c.does("cursord.new")
		c.does("cursord.ask", "do "+name)
		c.hearsAfter(mark, "window/showMessage", "done")
	}
	mark := c.mark()
	c.does("cursord.transcript")
	uri, line := c.shown(mark, "chat.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "\n> do beta\n>\n> [file: f]\n\nI did beta\n")
	require.Equal(t, strings.Count(string(raw), "\n")-1, line)

	mark = c.mark()
	c.does("cursord.resume")
	uri, line = c.shown(mark, "SESSIONS.md")
	raw, err = os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	list := strings.Split(string(raw), "\n")
	require.True(t, strings.HasPrefix(list[line], "- do beta · ") && strings.Contains(list[line], " · goes on here · "), list[line])
	require.True(t, strings.HasPrefix(list[line+1], "- do alpha · "), list[line+1])
	d := c.opensFile(uri, string(raw))
	require.Equal(t, []string{"Resume this session", "Ask in this session…", "Open its transcript", "Delete this session"}, titlesOf(c.actions(d.uri, line+1, nil)))
	require.Empty(t, c.actions(d.uri, 0, nil))
	mark = c.mark()
	c.chooses(d.uri, line+1, "Open its transcript")
	c.shown(mark, "chat.md")
	raw, err = os.ReadFile(w.LspFile("chat.md"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "I did alpha")
	c.chooses(d.uri, line+1, "Resume this session")
	c.hears("window/showMessage", "the next prompt goes to session do alpha")
	mark = c.mark()
	c.does("cursord.ask", "more")
	c.hearsAfter(mark, "window/showMessage", "done")
	require.Contains(t, strings.Join(w.Runs()[2].Args, " "), "--resume "+w.Runs()[0].Session)
	// The open list is updated by an edit.
	mark = c.mark()
	c.does("cursord.resume")
	c.shown(mark, "SESSIONS.md")
	require.True(t, strings.HasPrefix(strings.Split(d.now(), "\n")[line], "- do alpha · "), d.now())
	mark = c.mark()
	c.does("cursord.resume", "nonsense")
	c.hearsAfter(mark, "window/showMessage", "no such session")
	f.closes()
}

// TestLSPFolders: several folders, folders that come and go, links to folders, none at all, and folders in folders.
func TestLSPFolders(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	other := filepath.Join(w.Dir, "other one")
	require.NoError(t, os.MkdirAll(filepath.Join(other, "sub"), 0o755))
	link := filepath.Join(w.Dir, "link")
	require.NoError(t, os.Symlink(other, link))
	w.Put("f", "1\n")
	require.NoError(t, os.WriteFile(filepath.Join(other, "sub", "g"), []byte("1\n"), 0o644))
	trusted(w)
	_, stderr, status := w.Cursord("trust", other)
	require.Zero(t, status, stderr)

	c := lsp(w, world.LSPCapabilities(), nil)
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.ask", "arguments": []any{"x", world.Obj{"workspace": other}}}, nil), "is not open here")
	c.notify("workspace/didChangeWorkspaceFolders", world.Obj{"event": world.Obj{"added": []world.Obj{{"uri": "file://" + link, "name": "o"}}, "removed": []world.Obj{}}})
	w.Plays(world.Lines(world.Edits("c", "sub/g", "1\n", "1\n2\n"))...)
	c.does("cursord.ask", "x", world.Obj{"workspace": other})
	uri := "file://" + link + "/sub/g"
	c.until("the hunk as the editor calls the file", func() bool { return len(c.lists[uri]) == 1 })
	c.hears("window/showMessage", "done")
	// Opened under another of its names, the file has its hunks there.
	real := strings.ReplaceAll("file://"+other+"/sub/g", " ", "%20")
	c.opensFile(real, "1\n2\n")
	c.until("the hunk there", func() bool { return len(c.lists[real]) == 1 && len(c.lists[uri]) == 0 })
	c.does("cursord.accept", world.Obj{"path": "sub/g", "line": 2})
	c.until("it to be gone", func() bool { return len(c.lists[real]) == 0 })
	// The hunks of a closed folder go.
	w.Plays(world.Lines(world.Edits("c", "f", "1\n", "1\n2\n"))...)
	c.does("cursord.ask", "x", world.Obj{"workspace": w.Root})
	c.waitsForHunks("f", 1)
	mark := c.mark()
	c.hearsAfter(0, "window/showMessage", "1 hunk to review")
	c.notify("workspace/didChangeWorkspaceFolders", world.Obj{"event": world.Obj{"added": []world.Obj{}, "removed": []world.Obj{{"uri": "file://" + w.Root, "name": "ws"}}}})
	c.waitsForHunks("f", 0)
	require.NotNil(t, c.hearsAfter(mark, "textDocument/publishDiagnostics"))

	// Without a folder, the repository of the first document is used.
	none := lspProcess(w)
	none.must("initialize", world.Obj{"processId": nil, "rootUri": nil, "capabilities": world.LSPCapabilities()}, nil)
	require.ErrorContains(t, none.call("workspace/executeCommand", world.Obj{"command": "cursord.ask", "arguments": []any{"x"}}, nil), "no folder is open")
	require.NoError(t, os.Mkdir(w.Path(".git"), 0o755))
	w.Put("deep/er/h", "h\n")
	none.opens("deep/er/h")
	none.waitsForHunks("f", 1)
}
