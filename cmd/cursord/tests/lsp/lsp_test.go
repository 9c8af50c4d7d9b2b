//go:build unix

package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestLSPDirect plays a turn and its review; the agent writes the files themselves.
func TestLSPDirect(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w.Put("f", before)
	w.Plays(world.Lines([]string{world.Waits("begun")}, world.Edits("c1", "f", before, after))...)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.answering(allows)
	c.does("cursord.ask", "change it")
	c.hears("window/showMessageRequest", "May the agent")
	c.hears("$/progress", `"begin"`)
	w.Put("../begun", "")
	c.hears("$/progress", `"end"`)
	c.hears("window/showMessage", "done", "3 hunks to review in 1 file")
	list := c.waitsForHunks("f", 3)
	require.Equal(t, "cursord", list[0].Source)
	require.Equal(t, 4, list[0].Range.Start.Line)
	require.Equal(t, 3, list[0].Severity)
	require.Contains(t, list[1].Message, "2/3 +2 −1")

	d := c.opens("f")
	var h struct{ Contents struct{ Kind, Value string } }
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "position": world.Obj{"line": 4, "character": 0}}, &h)
	require.Contains(t, h.Contents.Value, "-line 5\n+agent 5")

	c.chooses(d.uri, 4, "Accept hunk 1/3")
	c.hears("window/showMessage", "accepted 1 hunk; 2 hunks left in 1 file")
	c.waitsForHunks("f", 2)
	require.Equal(t, after, w.Get("f"))
	c.chooses(d.uri, 14, "Reject hunk 1/2")
	c.hears("window/showMessage", "rejected 1 hunk; 1 hunk left in 1 file")
	c.waitsForHunks("f", 1)
	require.Contains(t, w.Get("f"), "line 15\n")
	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	require.Equal(t, after, w.Get("f"))
}

// TestLSPIsolated accepts by edits of the editor's documents: nothing is written before the user saves.
func TestLSPIsolated(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c1", "f", before, after))...)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	c.answering(allows)
	d := c.opens("f")
	c.does("cursord.ask", "change it")
	c.hears("window/showMessage", "done", "3 hunks to review")
	c.waitsForHunks("f", 3)
	require.Equal(t, before, w.Get("f"))

	c.chooses(d.uri, 4, "Accept hunk 1/3")
	c.hears("window/showMessage", "accepted 1 hunk in your buffers – save to write; 2 hunks left in 1 file")
	c.waitsForHunks("f", 2)
	require.Equal(t, strings.Replace(before, "line 5\n", "agent 5\n", 1), d.now())
	require.Equal(t, before, w.Get("f"))

	// The editor's own undo brings it back.
	d.sets(before)
	c.waitsForHunks("f", 3)

	c.does("cursord.accept", world.Obj{"path": "f", "line": 15})
	c.waitsForHunks("f", 2)
	c.does("cursord.reject", world.Obj{"path": "f", "line": 5})
	c.hears("window/showMessage", "rejected 1 hunk; 1 hunk left in 1 file")
	c.waitsForHunks("f", 1)
	c.does("cursord.acceptAll")
	c.hears("window/showMessage", "accepted 1 hunk in your buffers – save to write; none left")
	c.waitsForHunks("f", 0)
	want := world.Numbered(30, map[int]string{15: "agent 15a\nagent 15b\n", 25: ""})
	require.Equal(t, want, d.now())
	d.saves()
	require.Equal(t, want, w.Get("f"))
	e := w.Joins()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	for len(e.Diffs()) > 0 { // once the daemon has seen the save
		e.Until("the save", func(n world.Notification) bool { return n.Diff != nil && n.Diff.State == "clean" })
	}
}

func allows(m rpc.Message) any {
	if m.Method == "window/showMessageRequest" {
		var p struct{ Actions []struct{ Title string } }
		_ = json.Unmarshal(m.Params, &p)
		return p.Actions[len(p.Actions)-1]
	}
	return nil
}
