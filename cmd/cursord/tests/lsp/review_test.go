//go:build unix

package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// lspAfter returns a world in which the agent changes files, and a language client with these options.
func lspAfter(t *testing.T, before, after world.Tree, capabilities, options world.Obj) (*world.World, *langClient) {
	t.Helper()
	w := world.New(t)
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
		all = append(all, world.Edits(fmt.Sprint("c", i), path, old, after[path]))
	}
	w.Plays(world.Lines(all...)...)
	trusted(w)
	c := lsp(w, capabilities, options)
	return w, c
}

func sortedKeys(m world.Tree) []string {
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

// TestLSPUnsavedReject rejects in an unsaved document: by an edit of its present version, which the editor may refuse.
func TestLSPUnsavedReject(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	c.turn()
	d := c.opens("f")
	mine := strings.Replace(after, "line 1\n", "𝄞 mine\nline 1\n", 1)
	d.sets(mine)
	list := c.waitsForHunks("f", 3)
	c.until("the hunks to move", func() bool { list = c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 5 })
	c.does("cursord.reject", world.Obj{"path": "f", "line": 6})
	c.hears("window/showMessage", "rejected 1 hunk")
	want := strings.Replace(mine, "agent 5\n", "line 5\n", 1)
	require.Equal(t, want, d.now())
	require.Equal(t, after, w.Get("f"), "the disk is left alone")
	c.waitsForHunks("f", 2)
	c.does("cursord.undo")
	c.hears("window/showMessage", "took the last decision back")
	require.Equal(t, mine, d.now())
	c.waitsForHunks("f", 3)

	// An editor whose user goes on typing refuses the edit. Nothing is lost, and the next try works.
	c.answering(func(m rpc.Message) any {
		if m.Method == "workspace/applyEdit" {
			return world.Obj{"applied": false, "failureReason": "document has changed"}
		}
		return nil
	})
	mark := c.mark()
	c.does("cursord.reject", world.Obj{"path": "f", "line": 6})
	c.hearsAfter(mark, "window/showMessage", "your buffer could not be changed: document has changed")
	c.hearsAfter(mark, "textDocument/publishDiagnostics", "1/3 ") // no other change is needed
	c.answering(nil)
	mark = c.mark()
	d.sets(mine + "more\n")
	c.hearsAfter(mark, "textDocument/publishDiagnostics", fmt.Sprintf(`"version":%d`, d.version), "1/3 ")
	mark = c.mark()
	c.does("cursord.rejectAll")
	c.hearsAfter(mark, "window/showMessage", "rejected 3 hunks; none left; cursord.undo brings them back")
	c.waitsForHunks("f", 0)
	require.Equal(t, strings.Replace(before, "line 1\n", "𝄞 mine\nline 1\n", 1)+"more\n", d.now())
}

// TestLSPAgentBehindUnsavedText: the agent changes a file that is unsaved in an editor that takes no edits. The user gets
// one message, before the save.
func TestLSPAgentBehindUnsavedText(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	can := world.LSPCapabilities()
	can["workspace"].(world.Obj)["applyEdit"] = false
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})}, can, nil)
	d := c.opens("f")
	d.sets("mine\n" + before)
	c.does("cursord.status") // the daemon has all earlier messages
	mark := c.mark()
	c.turn()
	c.hearsAfter(mark, "window/showMessage", "on disk the agent has changed 4 lines of f that your unsaved buffer lacks")
	mark = c.mark()
	d.sets("mine\nand more\n" + before)
	c.does("cursord.status")
	e := w.Joins()
	require.Len(t, e.Diffs()["f"].Hunks, 2)
	for _, m := range c.all()[mark:] {
		require.NotContains(t, string(m.Params), "on disk that")
	}
}

// TestLSPStaleBuffers: an editor that does not load the agent's changes gets a hint to load them. Hunks are shown at their
// places in its old text, and this text does not count as the user's change.
func TestLSPStaleBuffers(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\nand more\n", 15: "agent 15\n", 25: ""})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
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
	// The user's line stays the user's, and the agent's changes come into the text.
	d.sets("mine\n" + before)
	c.hears("window/showMessage", "changes on disk came into f")
	require.Equal(t, "mine\n"+after, d.now())
	c.until("the hunks to move", func() bool { list := c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 5 })
	require.Equal(t, []int{5, 16, 26}, lines())
	e := w.Joins()
	require.Len(t, e.Diffs()["f"].Hunks, 3)
	// The editor loads the file.
	d.sets(after)
	c.until("the hunks to move", func() bool { list := c.lists[d.uri]; return len(list) == 3 && list[0].Range.Start.Line == 4 })
	require.Equal(t, []int{4, 15, 25}, lines())
	// A reject writes the file while the editor has it open.
	mark := c.mark()
	c.does("cursord.reject", world.Obj{"path": "f", "line": 16})
	c.hearsAfter(mark, "window/showMessage", "rejected 1 hunk")
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
	require.Equal(t, strings.Replace(after, "agent 15\n", "line 15\n", 1), w.Get("f"))
	// An editor that watches files goes on showing the old text.
	mark = c.mark()
	for range 3 {
		c.notify("workspace/didChangeWatchedFiles", world.Obj{"changes": []world.Obj{{"uri": d.uri, "type": 2}, {"uri": "file:///elsewhere", "type": 1}}})
	}
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
}

// TestLSPConflicts: the agent changes a file that is unsaved in the editor. Changes of other lines come into the text.
// Changes of the same lines are decided as mine, the agent's or both.
func TestLSPConflicts(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ action, text string }{
		{"Keep mine", "mine 5\n"}, {"Take the agent's", "agent 5\n"}, {"Keep both", "mine 5\nagent 5\n"},
	} {
		t.Run(one.action, func(t *testing.T) {
			t.Parallel()
			before := world.Numbered(30, nil)
			after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n"})
			w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
			d := c.opens("f")
			mine := strings.Replace(before, "line 5\n", "mine 5\n", 1)
			d.sets(mine)
			mark := c.mark()
			c.does("cursord.ask", "do it")
			c.hearsAfter(mark, "window/showMessage", "changes on disk came into f, which is not saved – decide 1 conflict before you save it")
			c.hearsAfter(mark, "window/showMessage", "done – 2 hunks to review in 1 file")
			merged := strings.Replace(after, "agent 5\n", "mine 5\n", 1)
			require.Equal(t, merged, d.now())
			list := c.waitsForHunks("f", 2)
			require.Contains(t, list[0].Message, "1/2 +1 −1 · you have changed these lines too")
			mark = c.mark()
			c.does("cursord.acceptAll")
			c.hearsAfter(mark, "window/showMessage", "accepted 1 hunk; 1 hunk left in 1 file; left 1 hunk whose lines you have changed too")
			c.waitsForHunks("f", 1)
			c.does(map[string]string{
				"Keep mine": "cursord.reject", "Take the agent's": "cursord.accept", "Keep both": "cursord.acceptBoth",
			}[one.action], world.Obj{"path": "f", "line": 5})
			c.waitsForHunks("f", 0)
			want := strings.Replace(after, "agent 5\n", one.text, 1)
			c.eventually("what was decided", func() bool { return d.now() == want })
			require.Equal(t, after, w.Get("f"), "the disk is left alone")
		})
	}
}

// TestLSPSaveOverAConflict: messages say that a save keeps the user's lines, and afterwards that it has rejected the agent's.
func TestLSPSaveOverAConflict(t *testing.T) {
	t.Parallel()
	before := world.Numbered(9, nil)
	after := world.Numbered(9, map[int]string{5: "agent 5\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	d := c.opens("f")
	d.sets(strings.Replace(before, "line 5\n", "mine 5\n", 1))
	mark := c.mark()
	c.does("cursord.ask", "do it")
	c.hearsAfter(mark, "window/showMessage", "1 conflict in f: the agent has changed these lines too – decide there; a save keeps your lines")
	c.hearsAfter(mark, "window/showMessage", "done – 1 hunk to review in 1 file, 1 conflict")
	c.waitsForHunks("f", 1)
	d.saves()
	c.hearsAfter(mark, "window/showMessage", "the save rejected 1 hunk – cursord.undo brings it back")
	c.waitsForHunks("f", 0)
	require.Equal(t, d.now(), w.Get("f"))
}

// TestLSPDecisionElsewhere: the command line decides about a file that the editor has open and saved. A message says that
// the file has changed, and another one that the user types in the old text.
func TestLSPDecisionElsewhere(t *testing.T) {
	t.Parallel()
	before := world.Numbered(9, nil)
	after := world.Numbered(9, map[int]string{3: "agent 3\n", 7: "agent 7\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	list := c.waitsForHunks("f", 2)
	mark := c.mark()
	w.CursordOK("accept", list[0].Code)
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk – reload to see it")
	mark = c.mark()
	d.sets(before + "mine\n")
	c.hearsAfter(mark, "window/showMessage", "f is newer on disk – undo your changes and reload it")
	d.sets(world.Numbered(9, map[int]string{3: "agent 3\n"}))
	mark = c.mark()
	c.eventually("the daemon has that text", func() bool { _, _, status := w.Cursord("undo"); return status == 0 })
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
}

// TestLSPWholeFiles: created, deleted and renamed files are shown, accepted and rejected.
func TestLSPWholeFiles(t *testing.T) {
	t.Parallel()
	before := world.Tree{"gone": "a\nb\n", "kept": "1\n", "was": world.Numbered(20, nil)}
	after := world.Tree{"gone": "(absent)", "new/made": "x\ny\n", "kept": "1\n2\n"}
	for _, isolation := range []string{"none", "copy"} {
		t.Run(isolation, func(t *testing.T) {
			w, c := lspAfter(t, before, after, world.LSPCapabilities(), world.Obj{"isolation": isolation})
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
			// found waits until the file and its diagnostics agree.
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
			// In review.diff it can be decided on its line.
			var h struct{ Contents struct{ Value string } }
			c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": review}, "position": world.Obj{"line": other.Range.Start.Line, "character": 0}}, &h)
			require.Contains(t, h.Contents.Value, "```diff\n")
			at := other.Range.Start.Line
			c.does(accept, world.Obj{"uri": review, "range": world.Obj{"start": world.Obj{"line": at, "character": 0}, "end": world.Obj{"line": at, "character": 0}}})
			c.until("nothing in review.diff", func() bool { return len(c.lists[review]) == 0 })
			if isolation == "copy" {
				c.eventually("the file is there", func() bool { return w.Get("new/made") == "x\ny\n" })
				require.Equal(t, "1\n", w.Get("kept"))
				c.does("cursord.acceptAll")
				c.eventually("a file that is not open is written", func() bool { return w.Get("kept") == "1\n2\n" })
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

// TestLSPRename: an isolated agent renames and changes a file that the editor has open.
func TestLSPRename(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	w.Put("was", before)
	w.Plays(world.Lines(world.Shells("c", `text=$(sed "s/^line 7$/agent 7/" was); mv was now; echo "$text" >now`))...)
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
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

// TestLSPUndoOfEdits: an accept that was made by an edit is taken back by an edit, in order with the daemon's decisions.
func TestLSPUndoOfEdits(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 30: "agent 30"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 3)
	c.chooses(d.uri, 29, "Accept hunk 3/3") // its last line has no end
	c.waitsForHunks("f", 2)
	require.Equal(t, strings.Replace(before, "line 30\n", "agent 30", 1), d.now())
	c.does("cursord.reject", world.Obj{"path": "f", "line": 5})
	c.waitsForHunks("f", 1)
	c.does("cursord.accept", world.Obj{"path": "f", "line": 15})
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

	// The editor's undo took back the latest decision, so undo takes back the one before it.
	d.sets(strings.Replace(all, "agent 15a\nagent 15b\n", "line 15\n", 1))
	c.waitsForHunks("f", 1)
	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	require.Equal(t, before, w.Get("f"))
}
