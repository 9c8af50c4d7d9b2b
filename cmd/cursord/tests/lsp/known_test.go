//go:build unix

package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestLSPFirstContact: the first command waits until the hunks are known, instead of saying "nothing to review". A file with
// hunks shows them before any command.
func TestLSPFirstContact(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	c.turn()
	c.waitsForHunks("f", 2)
	c.must("shutdown", nil, nil)
	c.notify("exit", nil)
	c.until("its end", func() bool { return c.gone })

	for _, running := range []bool{true, false} {
		if !running {
			_, stderr, status := w.Cursord("stop", "--force")
			require.Zero(t, status, stderr)
		}
		c = lsp(w, world.LSPCapabilities(), nil)
		c.does("cursord.next")
		uri, line := c.shown(0, "")
		require.Equal(t, "file://"+w.Path("f"), uri)
		require.Equal(t, 4, line)
		require.Equal(t, "Accept hunk 1/2 (+1 −1)", c.actions(uri, 4, nil)[0].Title)
		for _, m := range c.all() {
			require.NotContains(t, string(m.Params), "nothing to review")
		}
		_, stderr, status := w.Cursord("stop", "--force")
		require.Zero(t, status, stderr)
		o := lsp(w, world.LSPCapabilities(), nil)
		o.opens("f")
		o.waitsForHunks("f", 2)
	}
}

// TestLSPStartsNoDaemon: an editor in a folder with nothing to review starts no daemon, and joins a daemon that another
// client starts.
func TestLSPStartsNoDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("f")
	require.NotEmpty(t, c.actions(d.uri, 0, nil), "it is known that there is nothing")
	d.sets("2\n")
	d.saves()
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "position": world.Obj{"line": 0, "character": 0}}, nil)
	_, err := os.Stat(w.Path("../state/cursord.db"))
	require.ErrorIs(t, err, os.ErrNotExist, "no daemon has been there")

	w.Plays(world.Lines(world.Edits("c", "f", "2\n", "2\n3\n"))...)
	w.Trusts()
	_, stderr, status := w.Cursord("run", "--quiet", "do it")
	require.Zero(t, status, stderr)
	c.waitsForHunks("f", 1)
}

// TestLSPResumesTheLatest: after a restart of the editor the next prompt goes to the folder's latest session with the
// isolation of this editor. cursord.new begins another session.
func TestLSPResumesTheLatest(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`, world.Done)
	asks := func(c *langClient, prompt string) (session string) {
		t.Helper()
		mark := c.mark()
		c.does("cursord.ask", prompt)
		c.hearsAfter(mark, "window/showMessage", "done")
		var state struct{ Session string }
		c.eventually("its session", func() bool { // the answer to the prompt may come after the turn's end
			c.must("workspace/executeCommand", world.Obj{"command": "cursord.status"}, &state)
			return state.Session != ""
		})
		return state.Session
	}
	restarted := func(c *langClient, options world.Obj) *langClient {
		t.Helper()
		if c != nil {
			c.must("shutdown", nil, nil)
			c.notify("exit", nil)
			c.until("its end", func() bool { return c.gone })
		}
		return lsp(w, world.LSPCapabilities(), options)
	}
	c := restarted(nil, nil)
	first := asks(c, "one")
	c = restarted(c, nil)
	require.Equal(t, first, asks(c, "two"))
	require.Contains(t, strings.Join(w.Runs()[1].Args, " "), "--resume "+w.Runs()[0].Session)
	c.does("cursord.new")
	second := asks(c, "three")
	require.NotEqual(t, first, second)
	c = restarted(c, world.Obj{"isolation": "copy"})
	third := asks(c, "apart")
	require.NotContains(t, []string{first, second}, third, "these do not work in a copy")
	c = restarted(c, world.Obj{"isolation": "copy"})
	require.Equal(t, third, asks(c, "apart again"))
	e := w.Opens()
	for i := range 2 { // nobody has chosen between them
		e.Turn(world.Obj{"prompt": "attempt", "attempt": world.Obj{"group": "g", "number": i + 1, "of": 2}})
	}
	c = restarted(c, world.Obj{"isolation": "copy"})
	require.Equal(t, third, asks(c, "apart once more"))
	c = restarted(c, world.Obj{"isolation": "none"})
	require.Equal(t, second, asks(c, "four"))
}

// TestLSPCountedHunks: a menu decides the hunks that its title counts, also if more have come since.
func TestLSPCountedHunks(t *testing.T) {
	t.Parallel()
	w, c := lspAfter(t, world.Tree{"a": "1\n", "b": "1\n"}, world.Tree{"a": "1\n2\n", "b": "1\n2\n"}, world.LSPCapabilities(), nil)
	c.turn()
	c.waitsForHunks("b", 1)
	var reject *langCommand
	for _, a := range c.actions("file://"+w.Path("a"), 1, nil) {
		if a.Title == "Reject all 2 hunks in 2 files" {
			reject = a.Command
		}
	}
	require.NotNil(t, reject)
	w.Put("c", "1\n")
	w.Plays(world.Lines(world.Edits("c9", "c", "1\n", "1\n2\n"))...)
	c.turn()
	c.waitsForHunks("c", 1)
	mark := c.mark()
	c.does(reject.Command, reject.Arguments...)
	c.hearsAfter(mark, "window/showMessage", "rejected 2 hunks")
	c.waitsForHunks("a", 0)
	c.waitsForHunks("b", 0)
	require.Equal(t, []string{"1\n", "1\n", "1\n2\n"}, []string{w.Get("a"), w.Get("b"), w.Get("c")})
	c.waitsForHunks("c", 1)
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": reject.Command, "arguments": reject.Arguments}, nil), "none of these hunks is left")
}

// TestLSPRejectWithAComment rejects with a comment: in an argument, and in a file that is saved. The agent gets it with the
// next prompt.
func TestLSPRejectWithAComment(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	c.turn()
	c.waitsForHunks("f", 2)
	c.does("cursord.reject", world.Obj{"path": "f", "line": 5, "comment": "not like this"})
	c.hears("window/showMessage", "rejected 1 hunk")
	c.waitsForHunks("f", 1)

	mark := c.mark()
	c.chooses("file://"+w.Path("f"), 24, "Reject hunk with a comment…")
	uri, _ := c.shown(mark, "COMMENT.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "(f, +1 −1)\n")
	require.Contains(t, string(raw), "#     -line 25\n#     +agent 25\n")
	d := c.opensFile(uri, string(raw))
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "no comment: nothing rejected")
	// Somebody has typed in the line of the scissors.
	d.sets("nor like that" + strings.Replace(string(raw), "--- >8 ---", "--- >8 x---", 1))
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "rejected 1 hunk")
	c.waitsForHunks("f", 0)
	require.Equal(t, before, w.Get("f"))
	mark = c.mark()
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "was sent already")
	d.closes()
	w.Plays(world.Done)
	mark = c.mark()
	c.does("cursord.ask", "again")
	c.hearsAfter(mark, "window/showMessage", "done")
	require.Contains(t, w.Runs()[1].Prompt, "not like this")
	require.Contains(t, w.Runs()[1].Prompt, "nor like that")
	require.NotContains(t, w.Runs()[1].Prompt, ">8")
}

// TestLSPTurnEnds: the end of a turn is reported, unless the settings say otherwise. A failure is always reported.
func TestLSPTurnEnds(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"notify": false})
	w.Plays(world.Waits("begun"), world.Streams("fine"), world.Done)
	mark := c.mark()
	c.does("cursord.ask", "go")
	c.hearsAfter(mark, "$/progress", `"begin"`)
	w.Put("../begun", "")
	c.hearsAfter(mark, "$/progress", `"end"`)
	w.Plays(`{"fake":"stderr","text":"Error: out of luck\n"}`, `{"fake":"exit","code":3}`)
	c.does("cursord.ask", "go on")
	c.hearsAfter(mark, "window/showMessage", "failed: ")
	for _, m := range c.all() {
		require.NotContains(t, string(m.Params), "cursord: done")
	}
}

// TestLSPHints: a hint names the editor's own command to load files again.
func TestLSPHints(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"helix": ":reload-all shows it", "Neovim": "reload to see it (:checktime)",
		"another": "reload to see it", "Eglot": "reload to see it (M-x revert-buffer)",
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", "1\n")
			trusted(w)
			w.Plays(world.Lines(world.Edits("c", "f", "1\n", "1\n2\n"))...)
			c := lspProcess(w)
			c.must("initialize", world.Obj{
				"clientInfo": world.Obj{"name": name}, "rootUri": "file://" + w.Root, "capabilities": world.LSPCapabilities(),
			}, nil)
			c.notify("initialized", world.Obj{})
			c.opens("f")
			c.does("cursord.ask", "go")
			m := c.hears("window/showMessage", "1 open file changed on disk")
			var p struct{ Message string }
			require.NoError(t, json.Unmarshal(m.Params, &p))
			require.Equal(t, "cursord: 1 open file changed on disk – "+want, p.Message)
		})
	}
}

// TestLSPListOfHunks: the list of all hunks shows and decides each hunk, also those of other files, and also in an older
// text that the editor shows. An open list is updated.
func TestLSPListOfHunks(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"})
	_, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after, "made": "x\n", "made too": "y\n"}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	f := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	c.does("cursord.diff")
	uri, _ := c.shown(0, "review.diff")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	d := c.opensFile(uri, string(raw))
	lineOf := func(text string) int {
		t.Helper()
		for i, line := range strings.Split(d.now(), "\n") {
			if line == text {
				return i
			}
		}
		t.Fatalf("no line %q in\n%s", text, d.now())
		return -1
	}
	var h struct{ Contents struct{ Value string } }
	for line, want := range map[string]string{"+agent 5": "hunk 1/2", "+agent 25": "hunk 2/2", "+x": "made: new file", "diff --cursord a/made too b/made too": "made too: new file"} {
		c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": uri}, "position": world.Obj{"line": lineOf(line), "character": 0}}, &h)
		require.Contains(t, h.Contents.Value, want)
	}
	c.until("the new files alone to be listed there", func() bool { return len(c.lists[uri]) == 2 })
	require.Equal(t, []string{
		"Accept hunk 1/2 (+1 −1)", "Reject hunk 1/2 (+1 −1)", "Reject hunk with a comment…", "Go to hunk 1/2 in f",
		"Accept all 2 hunks of f", "Reject all 2 hunks of f", "Accept all 4 hunks in 3 files", "Reject all 4 hunks in 3 files",
	}, titlesOf(c.actions(uri, lineOf("+agent 5"), nil)))

	mark := c.mark()
	c.chooses(uri, lineOf("+agent 25"), "Go to hunk 2/2 in f")
	at, line := c.shown(mark, "")
	require.Equal(t, f.uri, at)
	require.Equal(t, 24, line)

	// By a path, as the keys of Helix do it.
	c.does("cursord.accept", world.Obj{"path": strings.TrimPrefix(uri, "file://"), "line": lineOf("+agent 5") + 1})
	c.eventually("it is gone from the list", func() bool { return !strings.Contains(d.now(), "agent 5\n") })
	require.Contains(t, f.now(), "agent 5\n")
	// The editor's undo in the list takes no decision back.
	left := d.now()
	mark = c.mark()
	d.sets(string(raw))
	c.hearsAfter(mark, "window/showMessage", "here only cursord.undo takes a decision back")
	c.eventually("the list is what is pending", func() bool { return d.now() == left })
	require.Contains(t, f.now(), "agent 5\n")
	c.does("cursord.rejectFile", world.Obj{"uri": uri, "range": world.Obj{"start": world.Obj{"line": lineOf("+x"), "character": 0}, "end": world.Obj{"line": lineOf("+x"), "character": 0}}})
	c.eventually("that is gone, too", func() bool { return !strings.Contains(d.now(), "+x\n") })
	require.Contains(t, d.now(), "+y\n")
	require.Equal(t, string(raw), func() string { now, _ := os.ReadFile(strings.TrimPrefix(uri, "file://")); return string(now) }(),
		"the file is the editor's while it has it open: it would refuse to save over another")
	d.closes()
	c.eventually("then it is what is left", func() bool {
		now, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
		return err == nil && !strings.Contains(string(now), "+x\n") && strings.Contains(string(now), "+y\n")
	})
}

// TestLSPSessionsOfAllFolders lists also the sessions of other folders, renames one by a save, and deletes one.
func TestLSPSessionsOfAllFolders(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	trusted(w)
	w.Plays(world.Streams("ok"), world.Done)
	other := w.Path("../other")
	require.NoError(t, os.Mkdir(other, 0o755))
	for _, args := range [][]string{{"trust", other}, {"run", "--quiet", "--workspace", other, "in another folder"}, {"run", "--quiet", "first here"}} {
		_, stderr, status := w.Cursord(args...)
		require.Zero(t, status, stderr)
	}
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.resume")
	uri, line := c.shown(0, "SESSIONS.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	lines := strings.Split(string(raw), "\n")
	require.True(t, strings.HasPrefix(lines[line], "- first here · "), lines[line])
	require.Contains(t, string(raw), "\n## "+other+"\n\n- in another folder · ")
	d := c.opensFile(uri, string(raw))
	d.sets(strings.Replace(string(raw), "- first here · ", "- another name · ", 1))
	d.saves()
	c.hears("window/showMessage", "the session is called “another name” now")
	mark := c.mark()
	d.sets(strings.Replace(d.now(), "- another name · ", " another name · ", 1))
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "1 line not read")
	d.sets(strings.Replace(d.now(), "\n another name · ", "\n- another name · ", 1))
	d.saves()
	c.answering(func(m rpc.Message) any {
		if m.Method == "window/showMessageRequest" && strings.Contains(string(m.Params), "Delete the session another name") {
			return map[string]any{"title": "Delete it"}
		}
		return nil
	})
	c.chooses(uri, line, "Delete this session")
	c.hears("window/showMessage", "deleted the session another name")
	c.eventually("the list has it no more", func() bool { return !strings.Contains(d.now(), "another name") })
	require.Contains(t, d.now(), fmt.Sprintf("## %s\n\nNone yet.\n", w.Root))
}

// TestLSPDeleteNamesTheHunksOfTheCopy: the question before a delete says what is lost with the session's copy; an editor without
// questions deletes nothing then.
func TestLSPDeleteNamesTheHunksOfTheCopy(t *testing.T) {
	t.Parallel()
	for _, questions := range []bool{true, false} {
		capabilities := world.LSPCapabilities()
		if !questions {
			delete(capabilities["window"].(world.Obj), "showMessage")
		}
		w, c := lspAfter(t, world.Tree{"f": "one\n"}, world.Tree{"f": "two\n"}, capabilities, world.Obj{"isolation": "copy"})
		c.turn()
		e := w.Joins()
		var list rpc.SessionList
		e.Must("session/list", world.Obj{}, &list)
		c.does("cursord.resume")
		c.shown(0, "SESSIONS.md")
		c.does("cursord.delete", world.Obj{"session": list.Sessions[0].ID})
		if questions {
			c.hears("window/showMessageRequest", "1 hunk to review would be lost with its copy: delete the session do it and all that was said in it?")
		} else {
			c.hears("window/showMessage", "the session do it was not deleted: its copy has 1 hunk to review")
		}
		e.Must("session/list", world.Obj{}, &list)
		require.Len(t, list.Sessions, 1)
	}
}

// TestLSPSaveByAnotherProgram: another program saves a file that is unsaved in the editor. The message says that, and that a save
// would drop its change of a line that was typed.
func TestLSPSaveByAnotherProgram(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{3: "agent 3\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	c.turn()
	d := c.opens("f")
	c.waitsForHunks("f", 1)
	d.sets(strings.Replace(after, "line 5\n", "mine 5\n", 1))
	mark := c.mark()
	c.does("cursord.undo")
	c.hearsAfter(mark, "window/showMessage", "undo") // the daemon has the text
	w.Put("f", world.Numbered(12, map[int]string{3: "agent 3\n", 5: "theirs 5\n", 9: "theirs 9\n"}))
	c.hearsAfter(mark, "window/showMessage", "changes on disk came into f, but another program has changed your unsaved lines too – compare before you save it")
	require.Equal(t, world.Numbered(12, map[int]string{3: "agent 3\n", 5: "mine 5\n", 9: "theirs 9\n"}), d.now())
}
