//go:build unix

package lsp

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPNext goes through all hunks, in both directions, from any place.
func TestLSPNext(t *testing.T) {
	t.Parallel()
	before := world.Tree{"a": world.Numbered(30, nil), "b": world.Numbered(10, nil), "c": "x\n"}
	after := world.Tree{"a": world.Numbered(30, map[int]string{5: "A5\n", 25: "A25\n"}), "b": world.Numbered(10, map[int]string{2: "B2\n"})}
	w, c := lspAfter(t, before, after, world.LSPCapabilities(), nil)
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
		{"cursord.next", []any{world.Obj{"path": "a", "line": 10}}, "a", 24},
		{"cursord.prev", []any{world.Obj{"path": w.Path("a"), "line": 10}}, "a", 4},
		{"cursord.next", []any{world.Obj{"path": "c", "line": 1}}, "a", 4},
		{"cursord.prev", []any{world.Obj{"path": "a", "line": 1}}, "b", 1},
	} {
		mark := c.mark()
		c.does(one.command, one.args...)
		uri, line := c.shown(mark, "")
		require.Equal(t, "file://"+w.Path(one.path), uri, "step %d", i)
		require.Equal(t, one.line, line, "step %d", i)
	}
	// Decisions without an argument are about the hunk that was shown last.
	c.does("cursord.accept")
	c.waitsForHunks("b", 0)
	mark = c.mark()
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.accept"}, nil), "no hunk here")
	c.hearsAfter(mark, "window/showMessage", "no hunk here")
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.accept", "arguments": []any{world.Obj{"path": "../z"}}}, nil), "is in no folder")
	require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.rejectFile", "arguments": []any{world.Obj{"path": "c"}}}, nil), "nothing to review in this file")
	c.does("cursord.acceptFile", world.Obj{"path": "a"})
	c.waitsForHunks("a", 0)
	c.does("cursord.accept", "99.1")
	c.hears("window/showMessage", "no pending hunk")
}

// TestLSPWhatIsShown: every request about hunks shows the same hunks.
func TestLSPWhatIsShown(t *testing.T) {
	t.Parallel()
	can := world.LSPCapabilities()
	delete(can["textDocument"].(world.Obj), "publishDiagnostics")
	can["textDocument"].(world.Obj)["diagnostic"] = world.Obj{}
	can["workspace"].(world.Obj)["diagnostics"] = world.Obj{"refreshSupport": true}
	can["workspace"].(world.Obj)["codeLens"] = world.Obj{"refreshSupport": true}
	before := world.Numbered(10, nil)
	after := world.Numbered(10, map[int]string{2: "agent\n", 9: ""})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, can, nil)
	c.turn()
	c.hears("workspace/diagnostic/refresh")
	c.hears("workspace/codeLens/refresh")
	d := c.opens("f")
	ask := world.Obj{"textDocument": world.Obj{"uri": d.uri}, "range": world.Obj{"start": world.Obj{"line": 0, "character": 0}, "end": world.Obj{"line": 99, "character": 0}}}
	var report struct {
		Kind  string
		Items []langDiagnostic
	}
	c.must("textDocument/diagnostic", ask, &report)
	require.Equal(t, "full", report.Kind)
	require.Len(t, report.Items, 2)
	require.Contains(t, report.Items[0].Message, "← line 2 · 1/2 +1 −1")
	var all struct{ Items []struct{ URI string } }
	c.must("workspace/diagnostic", world.Obj{"previousResultIds": []any{}}, &all)
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
	c.must("workspace/executeCommand", world.Obj{"command": "cursord.status"}, &state)
	require.Equal(t, 2, state.Hunks)
	c.does(lenses[0].Command.Command, lenses[0].Command.Arguments...)
	c.eventually("one is left", func() bool {
		c.must("textDocument/diagnostic", ask, &report)
		return len(report.Items) == 1
	})
	require.Equal(t, after, w.Get("f"))
	// Elsewhere there are no hunks, which is no error.
	ask["textDocument"] = world.Obj{"uri": "untitled:1"}
	c.must("textDocument/diagnostic", ask, &report)
	require.Empty(t, report.Items)
	c.must("textDocument/codeLens", ask, &lenses)
	require.Empty(t, lenses)
	var h any
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": "untitled:1"}, "position": world.Obj{"line": 0, "character": 0}}, &h)
	require.Nil(t, h)
	for _, m := range c.all() {
		require.NotEqual(t, "textDocument/publishDiagnostics", m.Method, "who asks is not told, too")
	}
}

// TestLSPActions: the menu follows the client's capabilities, and is filtered by kind.
func TestLSPActions(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	titles := func(list []langAction) (all []string) {
		for _, a := range list {
			all = append(all, a.Title)
		}
		return all
	}
	w, c := lspAfter(t, world.Tree{"f": before, "g": "1\n"}, world.Tree{"f": after, "g": "1\n2\n"}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	menu := []string{
		"Accept hunk 1/2 (+1 −1)", "Reject hunk 1/2 (+1 −1)", "Reject hunk with a comment…", "Accept all 2 hunks of f", "Reject all 2 hunks of f",
		"Accept all 3 hunks in 2 files", "Reject all 3 hunks in 2 files", "Open full diff", "Ask agent about this line…",
	}
	list := c.actions(d.uri, 4, nil)
	require.Equal(t, menu, titles(list))
	require.True(t, list[0].IsPreferred)
	require.Equal(t, menu[:3], titles(c.actions(d.uri, 4, world.Obj{"only": []string{"quickfix"}})))
	require.Equal(t, menu[3:], titles(c.actions(d.uri, 4, world.Obj{"only": []string{"source"}})))
	require.Empty(t, c.actions(d.uri, 4, world.Obj{"only": []string{"refactor"}}))
	require.Equal(t, menu[8:], titles(c.actions(d.uri, 9, nil)))

	// A client that only takes commands gets commands, and the server makes the edit.
	delete(world.LSPCapabilities()["textDocument"].(world.Obj), "codeAction")
	other := world.LSPCapabilities()
	other["textDocument"].(world.Obj)["codeAction"] = world.Obj{}
	o := lsp(w, other, nil)
	f := o.opens("f")
	o.waitsForHunks("f", 2)
	var plain []langCommand
	at := world.Obj{"line": 4, "character": 0}
	o.must("textDocument/codeAction", world.Obj{"textDocument": world.Obj{"uri": f.uri}, "range": world.Obj{"start": at, "end": at}, "context": world.Obj{"diagnostics": []any{}}}, &plain)
	require.Equal(t, "Accept hunk 1/2 (+1 −1)", plain[0].Title)
	o.does(plain[0].Command, plain[0].Arguments...)
	o.waitsForHunks("f", 1)
	require.Equal(t, strings.Replace(before, "line 5\n", "agent 5\n", 1), f.now())
}

// TestLSPLineEnds accepts in documents whose line ends differ from the agent's and from the disk's.
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
			w, c := lspAfter(t, world.Tree{"f": one.disk}, world.Tree{"f": one.agent}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
			d := c.opensFile("file://"+w.Path("f"), one.document)
			c.turn()
			c.until("hunks", func() bool { return len(c.lists[d.uri]) > 0 })
			c.does("cursord.acceptAll")
			c.waitsForHunks("f", 0)
			require.Equal(t, one.want, d.now())
			require.Equal(t, one.disk, w.Get("f"))
			require.NoError(t, os.WriteFile(w.Path("f"), []byte(one.agent), 0o644)) // as the editor writes it
			c.notify("textDocument/didSave", world.Obj{"textDocument": world.Obj{"uri": d.uri}})
			e := w.Joins()
			c.eventually("nothing is pending for anybody", func() bool { return len(e.Diffs()) == 0 })
		})
	}
}
