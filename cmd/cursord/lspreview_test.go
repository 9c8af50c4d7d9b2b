package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// after has the agent change files in a world, for a language client with these options.
func lspAfter(t *testing.T, before, after Tree, capabilities, options Obj) (*World, *langClient) {
	t.Helper()
	w := New(t)
	var all [][]string
	for path, text := range before {
		w.Put(path, text)
	}
	for i, path := range sortedKeys(after) {
		old := before[path]
		if _, ok := before[path]; !ok {
			old = "(absent)"
		}
		if after[path] == "(absent)" {
			q, _ := json.Marshal(old)
			args := fmt.Sprintf(`"args":{"path":"{{cwd}}/%s"}`, path)
			all = append(all, []string{
				fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":"d%d","tool_call":{"deleteToolCall":{%s}}}`, i, args),
				fmt.Sprintf(`{"fake":"delete","path":%q}`, path),
				fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":"d%d","tool_call":{"deleteToolCall":{%s,"result":{"success":{"path":"{{cwd}}/%s","prevContent":%s}}}}}`, i, args, path, q),
			})
			continue
		}
		all = append(all, Edits(fmt.Sprint("c", i), path, old, after[path]))
	}
	w.Plays(Lines(all...)...)
	w.trusted()
	c := w.lsp(capabilities, options)
	return w, c
}

func sortedKeys(m Tree) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c *langClient) turn() {
	c.t.Helper()
	mark := c.mark()
	c.does("cursord.ask", "do it")
	c.hearsAfter(mark, "window/showMessage", "done")
}

// TestLSPUnsavedReject rejects in a document with changes: by an edit of its present version, which the editor may refuse.
func TestLSPUnsavedReject(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w, c := lspAfter(t, Tree{"f": before}, Tree{"f": after}, LSPCapabilities(), nil)
	c.turn()
	d := c.opens("f")
	mine := strings.Replace(after, "line 1\n", "𝄞 mine\nline 1\n", 1)
	d.sets(mine)
	list := c.waitsForHunks("f", 3)
	c.until("the hunks to move", func() bool { list = c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 5 })
	c.does("cursord.reject", Obj{"path": "f", "line": 6})
	c.hears("window/showMessage", "rejected 1 hunk")
	want := strings.Replace(mine, "agent 5\n", "line 5\n", 1)
	require.Equal(t, want, d.now())
	require.Equal(t, after, w.Get("f"), "the disk is left alone")
	c.waitsForHunks("f", 2)
	c.does("cursord.undo")
	c.hears("window/showMessage", "took the last decision back")
	require.Equal(t, mine, d.now())
	c.waitsForHunks("f", 3)

	// An editor that has gone on typing refuses the edit; nothing is lost, and the next try works.
	c.answering(func(m rpc.Message) any {
		if m.Method == "workspace/applyEdit" {
			return Obj{"applied": false, "failureReason": "document has changed"}
		}
		return nil
	})
	mark := c.mark()
	c.does("cursord.reject", Obj{"path": "f", "line": 6})
	c.hearsAfter(mark, "window/showMessage", "not in your buffer: document has changed")
	c.hearsAfter(mark, "textDocument/publishDiagnostics", "1/3 ") // without another change
	c.answering(nil)
	mark = c.mark()
	d.sets(mine + "more\n")
	c.hearsAfter(mark, "textDocument/publishDiagnostics", fmt.Sprintf(`"version":%d`, d.version), "1/3 ")
	mark = c.mark()
	c.does("cursord.rejectAll")
	c.hearsAfter(mark, "window/showMessage", "rejected 3 hunks")
	c.waitsForHunks("f", 0)
	require.Equal(t, strings.Replace(before, "line 1\n", "𝄞 mine\nline 1\n", 1)+"more\n", d.now())
}

// TestLSPStaleBuffers: an editor that does not load what the agent wrote is told so, its hunks are shown where its own
// text has them, and what it shows is not taken for a person's wish.
func TestLSPStaleBuffers(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{5: "agent 5\nand more\n", 15: "agent 15\n", 25: ""})
	w, c := lspAfter(t, Tree{"f": before}, Tree{"f": after}, LSPCapabilities(), nil)
	d := c.opens("f")
	c.turn()
	c.hears("window/showMessage", "1 open file changed on disk")
	lines := func() (at []int) {
		for _, one := range c.waitsForHunks("f", 3) {
			at = append(at, one.Range.Start.Line)
		}
		return at
	}
	require.Equal(t, []int{4, 14, 24}, lines(), "as the editor still has it")
	// Typing there is no decision.
	d.sets("mine\n" + before)
	c.until("the hunks to move", func() bool { list := c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 5 })
	require.Equal(t, []int{5, 15, 25}, lines())
	c.does("cursord.status") // the daemon has been told of all that it is told of
	e := w.Joins()
	require.Len(t, e.Diffs()["f"].Hunks, 3)
	// It loads the file.
	d.sets(after)
	c.until("the hunks to move", func() bool { list := c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 4 })
	require.Equal(t, []int{4, 15, 25}, lines())
	// A reject writes the file under it.
	mark := c.mark()
	c.does("cursord.reject", Obj{"path": "f", "line": 16})
	c.hearsAfter(mark, "window/showMessage", "rejected 1 hunk")
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
	require.Equal(t, strings.Replace(after, "agent 15\n", "line 15\n", 1), w.Get("f"))
	// An editor that watches files and goes on showing this one as it was.
	mark = c.mark()
	for range 3 {
		c.notify("workspace/didChangeWatchedFiles", Obj{"changes": []Obj{{"uri": d.uri, "type": 2}, {"uri": "file:///elsewhere", "type": 1}}})
	}
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
}

// TestLSPWholeFiles: files that agents make, delete, rename: where they are shown, and what accepting and rejecting does.
func TestLSPWholeFiles(t *testing.T) {
	t.Parallel()
	before := Tree{"gone": "a\nb\n", "kept": "1\n", "was": Numbered(20, nil)}
	after := Tree{"gone": "(absent)", "new/made": "x\ny\n", "kept": "1\n2\n"}
	for _, isolation := range []string{"none", "copy"} {
		t.Run(isolation, func(t *testing.T) {
			w, c := lspAfter(t, before, after, LSPCapabilities(), Obj{"isolation": isolation})
			if isolation == "copy" {
				c.opens("gone")
			}
			c.turn()
			shown := "new/made"
			if isolation == "copy" {
				shown = "gone"
			}
			list := c.waitsForHunks(shown, 1)
			require.Zero(t, list[0].Range.Start.Line)
			c.waitsForHunks("kept", 1)
			review := "file://" + w.LspFile("review.diff")
			var other langDiagnostic
			// found waits until the file and the list of what is in it agree.
			found := func(head, gone string) {
				c.eventually(head+" to be listed", func() bool {
					raw, err := os.ReadFile(w.LspFile("review.diff"))
					c.mu.Lock()
					defer c.mu.Unlock()
					if err != nil || len(c.lists[review]) != 1 || gone != "" && strings.Contains(string(raw), gone) {
						return false
					}
					other = c.lists[review][0]
					all := strings.Split(string(raw), "\n")
					return other.Range.Start.Line < len(all) && all[other.Range.Start.Line] == head
				})
			}
			accept := "cursord.accept"
			if isolation == "copy" {
				found("diff --cursord a/new/made b/new/made", "")
				require.Contains(t, other.Message, "made: new file, +2")
				require.Equal(t, "a\nb\n", w.Get("gone"))
				c.chooses("file://"+w.Path("gone"), 0, "Accept hunk 1/1 (gone: deleted, −2)")
				c.waitsForHunks("gone", 0)
				require.Equal(t, "(absent)", w.Get("gone"), "the editor deletes what it has open")
				found("diff --cursord a/new/made b/new/made", "a/gone")
			} else {
				found("diff --cursord a/gone b/gone", "")
				require.Contains(t, other.Message, "gone: deleted, −2")
			}
			// On its line in review.diff it can be decided.
			var h struct{ Contents struct{ Value string } }
			c.must("textDocument/hover", Obj{"textDocument": Obj{"uri": review}, "position": Obj{"line": other.Range.Start.Line, "character": 0}}, &h)
			require.Contains(t, h.Contents.Value, "```diff\n")
			at := other.Range.Start.Line
			c.does(accept, Obj{"uri": review, "range": Obj{"start": Obj{"line": at, "character": 0}, "end": Obj{"line": at, "character": 0}}})
			c.until("nothing in review.diff", func() bool { return len(c.lists[review]) == 0 })
			if isolation == "copy" {
				c.eventually("the file is there", func() bool { return w.Get("new/made") == "x\ny\n" })
				require.Equal(t, "1\n", w.Get("kept"))
				c.does("cursord.acceptAll")
				c.eventually("what is not open is written", func() bool { return w.Get("kept") == "1\n2\n" })
				return
			}
			require.Equal(t, "(absent)", w.Get("gone"))
			mark := c.mark()
			c.does("cursord.rejectAll")
			c.hearsAfter(mark, "window/showMessage", "rejected 2 hunks")
			require.Equal(t, "(absent)", w.Get("new/made"))
			require.Equal(t, "1\n", w.Get("kept"))
		})
	}
}

// TestLSPRename: an agent apart renames a file that the editor has open, and changes it.
func TestLSPRename(t *testing.T) {
	t.Parallel()
	w := New(t)
	before := Numbered(30, nil)
	w.Put("was", before)
	w.Plays(Lines(Shells("c", `text=$(sed "s/^line 7$/agent 7/" was); mv was now; echo "$text" >now`))...)
	w.trusted()
	c := w.lsp(LSPCapabilities(), Obj{"isolation": "copy"})
	d := c.opens("was")
	c.turn()
	list := c.waitsForHunks("was", 2)
	require.Contains(t, list[0].Message, "renamed: was → now")
	require.Equal(t, 6, list[1].Range.Start.Line)
	c.chooses(d.uri, 6, "Accept hunk 2/2")
	c.waitsForHunks("was", 1)
	require.Equal(t, strings.Replace(before, "line 7\n", "agent 7\n", 1), d.now())
	d.saves()
	c.chooses(d.uri, 0, "Accept hunk 1/")
	c.eventually("it is renamed", func() bool { return w.Get("now") == d.now() && w.Get("was") == "(absent)" })
	c.until("nothing left", func() bool {
		return len(c.lists["file://"+w.Path("was")]) == 0 && len(c.lists["file://"+w.Path("now")]) == 0
	})
	require.True(t, strings.HasSuffix(d.uri, "/now"))
}

// TestLSPUndoOfEdits: an accept that was an edit is taken back by an edit, in order with the decisions of the daemon.
func TestLSPUndoOfEdits(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 30: "agent 30"})
	w, c := lspAfter(t, Tree{"f": before}, Tree{"f": after}, LSPCapabilities(), Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 3)
	c.chooses(d.uri, 29, "Accept hunk 3/3") // no end of its last line
	c.waitsForHunks("f", 2)
	require.Equal(t, strings.Replace(before, "line 30\n", "agent 30", 1), d.now())
	c.does("cursord.reject", Obj{"path": "f", "line": 5})
	c.waitsForHunks("f", 1)
	c.does("cursord.accept", Obj{"path": "f", "line": 15})
	c.waitsForHunks("f", 0)
	all := d.now()
	require.Equal(t, strings.Replace(after, "agent 5\n", "line 5\n", 1), all)

	c.does("cursord.undo")
	c.waitsForHunks("f", 1)
	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	c.does("cursord.undo")
	c.waitsForHunks("f", 3)
	require.Equal(t, before, d.now())
	mark := c.mark()
	c.does("cursord.undo")
	c.hearsAfter(mark, "window/showMessage", "nothing to undo")
	for i := range 3 {
		c.does("cursord.redo")
		c.waitsForHunks("f", 2-i)
	}
	require.Equal(t, all, d.now())
	mark = c.mark()
	c.does("cursord.redo")
	c.hearsAfter(mark, "window/showMessage", "nothing to redo")

	// What the editor took back itself is not taken back again: the one before is.
	d.sets(strings.Replace(all, "agent 15a\nagent 15b\n", "line 15\n", 1))
	c.waitsForHunks("f", 1)
	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	require.Equal(t, before, w.Get("f"))
}

// TestLSPNext goes through all hunks, in both directions, from wherever the person is.
func TestLSPNext(t *testing.T) {
	t.Parallel()
	before := Tree{"a": Numbered(30, nil), "b": Numbered(10, nil), "c": "x\n"}
	after := Tree{"a": Numbered(30, map[int]string{5: "A5\n", 25: "A25\n"}), "b": Numbered(10, map[int]string{2: "B2\n"})}
	w, c := lspAfter(t, before, after, LSPCapabilities(), nil)
	mark := c.mark()
	c.does("cursord.next")
	c.hearsAfter(mark, "window/showMessage", "nothing to review")
	c.turn()
	c.waitsForHunks("b", 1)
	for i, one := range []struct {
		command string
		args    []any
		path    string
		line    int
	}{
		{"cursord.next", nil, "a", 4},
		{"cursord.next", nil, "a", 24},
		{"cursord.next", nil, "b", 1},
		{"cursord.next", nil, "a", 4},
		{"cursord.prev", nil, "b", 1},
		{"cursord.prev", nil, "a", 24},
		{"cursord.next", []any{Obj{"path": "a", "line": 10}}, "a", 24},
		{"cursord.prev", []any{Obj{"path": w.Path("a"), "line": 10}}, "a", 4},
		{"cursord.next", []any{Obj{"path": "c", "line": 1}}, "a", 4},
		{"cursord.prev", []any{Obj{"path": "a", "line": 1}}, "b", 1},
	} {
		mark := c.mark()
		c.does(one.command, one.args...)
		uri, line := c.shown(mark, "")
		require.Equal(t, "file://"+w.Path(one.path), uri, "step %d", i)
		require.Equal(t, one.line, line, "step %d", i)
	}
	// The decisions without an argument are about the hunk that was shown last.
	c.does("cursord.accept")
	c.waitsForHunks("b", 0)
	mark = c.mark()
	require.ErrorContains(t, c.call("workspace/executeCommand", Obj{"command": "cursord.accept"}, nil), "no hunk here")
	c.hearsAfter(mark, "window/showMessage", "no hunk here")
	require.ErrorContains(t, c.call("workspace/executeCommand", Obj{"command": "cursord.accept", "arguments": []any{Obj{"path": "../z"}}}, nil), "is in no folder")
	require.ErrorContains(t, c.call("workspace/executeCommand", Obj{"command": "cursord.rejectFile", "arguments": []any{Obj{"path": "c"}}}, nil), "nothing to review in this file")
	c.does("cursord.acceptFile", Obj{"path": "a"})
	c.waitsForHunks("a", 0)
	c.does("cursord.accept", "99.1")
	c.hears("window/showMessage", "no pending hunk")
}

// TestLSPWhatIsShown holds every way in which a client may ask for hunks to the same hunks.
func TestLSPWhatIsShown(t *testing.T) {
	t.Parallel()
	can := LSPCapabilities()
	delete(can["textDocument"].(Obj), "publishDiagnostics")
	can["textDocument"].(Obj)["diagnostic"] = Obj{}
	can["workspace"].(Obj)["diagnostics"] = Obj{"refreshSupport": true}
	can["workspace"].(Obj)["codeLens"] = Obj{"refreshSupport": true}
	before := Numbered(10, nil)
	after := Numbered(10, map[int]string{2: "agent\n", 9: ""})
	w, c := lspAfter(t, Tree{"f": before}, Tree{"f": after}, can, nil)
	c.turn()
	c.hears("workspace/diagnostic/refresh")
	c.hears("workspace/codeLens/refresh")
	d := c.opens("f")
	ask := Obj{"textDocument": Obj{"uri": d.uri}, "range": Obj{"start": Obj{"line": 0, "character": 0}, "end": Obj{"line": 99, "character": 0}}}
	var report struct {
		Kind  string
		Items []langDiagnostic
	}
	c.must("textDocument/diagnostic", ask, &report)
	require.Equal(t, "full", report.Kind)
	require.Len(t, report.Items, 2)
	require.Contains(t, report.Items[0].Message, "1/2 +1 −1 · do it")
	var all struct{ Items []struct{ URI string } }
	c.must("workspace/diagnostic", Obj{"previousResultIds": []any{}}, &all)
	require.Len(t, all.Items, 1)
	require.Equal(t, d.uri, all.Items[0].URI)
	var lenses []struct {
		Range   struct{ Start struct{ Line int } }
		Command langCommand
	}
	c.must("textDocument/codeLens", ask, &lenses)
	require.Len(t, lenses, 6)
	require.Equal(t, 1, lenses[0].Range.Start.Line)
	require.Equal(t, "Accept 1/2", lenses[0].Command.Title)
	var hints []struct {
		Position struct{ Line, Character int }
		Label    string
	}
	c.must("textDocument/inlayHint", ask, &hints)
	require.Len(t, hints, 2)
	require.Equal(t, "agent 1/2 +1 −1", hints[0].Label)
	require.Equal(t, 5, hints[0].Position.Character)
	mark := c.mark()
	c.does("cursord.diff")
	uri, line := c.shown(mark, "review.diff")
	require.Zero(t, line)
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "diff --cursord a/f b/f\n@@ -1,5 +1,5 @@ ")
	require.Contains(t, string(raw), "\n-line 2\n+agent\n")
	var state struct{ Hunks, Running int }
	c.must("workspace/executeCommand", Obj{"command": "cursord.status"}, &state)
	require.Equal(t, 2, state.Hunks)
	c.does(lenses[0].Command.Command, lenses[0].Command.Arguments...)
	c.eventually("one is left", func() bool {
		c.must("textDocument/diagnostic", ask, &report)
		return len(report.Items) == 1
	})
	require.Equal(t, after, w.Get("f"))
	// Elsewhere there is nothing, which is no error.
	ask["textDocument"] = Obj{"uri": "untitled:1"}
	c.must("textDocument/diagnostic", ask, &report)
	require.Empty(t, report.Items)
	c.must("textDocument/codeLens", ask, &lenses)
	require.Empty(t, lenses)
	var h any
	c.must("textDocument/hover", Obj{"textDocument": Obj{"uri": "untitled:1"}, "position": Obj{"line": 0, "character": 0}}, &h)
	require.Nil(t, h)
	for _, m := range c.all() {
		require.NotEqual(t, "textDocument/publishDiagnostics", m.Method, "who asks is not told, too")
	}
}

// TestLSPActions: the menu by what the client can take, filtered by kind, and resolved.
func TestLSPActions(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	titles := func(list []langAction) (all []string) {
		for _, a := range list {
			all = append(all, a.Title)
		}
		return all
	}
	w, c := lspAfter(t, Tree{"f": before, "g": "1\n"}, Tree{"f": after, "g": "1\n2\n"}, LSPCapabilities(), Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	menu := []string{
		"Accept hunk 1/2 (+1 −1)", "Reject hunk 1/2 (+1 −1)", "Accept all 2 hunks of f", "Reject all 2 hunks of f",
		"Accept all 3 hunks in 2 files", "Reject all 3 hunks in 2 files", "Open full diff", "Ask agent about this line…",
	}
	list := c.actions(d.uri, 4, nil)
	require.Equal(t, menu, titles(list))
	require.True(t, list[0].IsPreferred)
	require.Equal(t, menu[:2], titles(c.actions(d.uri, 4, Obj{"only": []string{"quickfix"}})))
	require.Equal(t, menu[2:], titles(c.actions(d.uri, 4, Obj{"only": []string{"source"}})))
	require.Empty(t, c.actions(d.uri, 4, Obj{"only": []string{"refactor"}}))
	require.Equal(t, menu[7:], titles(c.actions(d.uri, 9, nil)))

	// Its edit is brought up to date when it is resolved.
	d.sets("mine\n" + before)
	var resolved langAction
	raw, err := json.Marshal(Obj{"title": list[0].Title, "edit": list[0].Edit, "command": list[0].Command, "data": list[0].Data, "extra": 1})
	require.NoError(t, err)
	c.must("codeAction/resolve", json.RawMessage(raw), &resolved)
	require.Equal(t, 5, resolved.Edit.DocumentChanges[0].Edits[0].Range.Start.Line)
	require.Equal(t, 1, *resolved.Edit.DocumentChanges[0].TextDocument.Version)
	d.sets("all is another\n")
	require.ErrorContains(t, c.call("codeAction/resolve", json.RawMessage(raw), nil), "has changed: ask for the actions again")
	d.sets(before)

	// A client that knows commands alone has the server make the edit.
	delete(LSPCapabilities()["textDocument"].(Obj), "codeAction")
	other := LSPCapabilities()
	other["textDocument"].(Obj)["codeAction"] = Obj{}
	o := w.lsp(other, nil)
	f := o.opens("f")
	o.waitsForHunks("f", 2)
	var plain []langCommand
	at := Obj{"line": 4, "character": 0}
	o.must("textDocument/codeAction", Obj{"textDocument": Obj{"uri": f.uri}, "range": Obj{"start": at, "end": at}, "context": Obj{"diagnostics": []any{}}}, &plain)
	require.Equal(t, "Accept hunk 1/2 (+1 −1)", plain[0].Title)
	o.does(plain[0].Command, plain[0].Arguments...)
	o.waitsForHunks("f", 1)
	require.Equal(t, strings.Replace(before, "line 5\n", "agent 5\n", 1), f.now())
}

// TestLSPLineEnds accepts in documents with other line ends than the agent's lines, and other than the disk's.
func TestLSPLineEnds(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	before, after := "one\ntwo\nthree\n", "one\ndeux\nzwei\nthree\nfour\n"
	for _, one := range []struct{ name, disk, agent, document, want string }{
		{"crlf everywhere", crlf(before), crlf(after), crlf(before), crlf(after)},
		{"the editor leaves them out", crlf(before), crlf(after), before, after},
		{"a byte order mark that the editor leaves out", "\ufeff" + before, "\ufeff" + after, before, after},
		{"no end of the last line", "one\ntwo\nthree", "one\ntwo\nthree\nfour", "one\ntwo\nthree", "one\ntwo\nthree\nfour"},
		{"an end that comes", "one\ntwo", "one\ntwo\n", "one\ntwo", "one\ntwo\n"},
		{"an empty file", "", "one\n", "", "one\n"},
	} {
		t.Run(one.name, func(t *testing.T) {
			w, c := lspAfter(t, Tree{"f": one.disk}, Tree{"f": one.agent}, LSPCapabilities(), Obj{"isolation": "copy"})
			d := c.opensFile("file://"+w.Path("f"), one.document)
			c.turn()
			c.until("hunks", func() bool { return len(c.lists[d.uri]) > 0 })
			c.does("cursord.acceptAll")
			c.waitsForHunks("f", 0)
			require.Equal(t, one.want, d.now())
			require.Equal(t, one.disk, w.Get("f"))
			require.NoError(t, os.WriteFile(w.Path("f"), []byte(one.agent), 0o644)) // as the editor writes it
			c.notify("textDocument/didSave", Obj{"textDocument": Obj{"uri": d.uri}})
			e := w.Joins()
			c.eventually("nothing is pending for anybody", func() bool { return len(e.Diffs()) == 0 })
		})
	}
}
