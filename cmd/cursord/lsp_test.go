package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestLSPDirect goes through a turn and its review where the agent writes the files themselves.
func TestLSPDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(30, nil)
	after := numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w.put("f", before)
	w.plays(lines([]string{waits("begun")}, edits("c1", "f", before, after))...)
	c := w.lsp(modern(), nil)
	c.answering(allows)
	c.does("cursord.ask", "change it")
	c.hears("window/showMessageRequest", "May the agent")
	c.hears("$/progress", `"begin"`)
	w.put("../begun", "")
	c.hears("$/progress", `"end"`)
	c.hears("window/showMessage", "done", "3 hunks to review in 1 file")
	list := c.waitsForHunks("f", 3)
	require.Equal(t, "cursord", list[0].Source)
	require.Equal(t, 4, list[0].Range.Start.Line)
	require.Equal(t, 3, list[0].Severity)
	require.Contains(t, list[1].Message, "2/3 +2 −1")

	d := c.opens("f")
	var h struct{ Contents struct{ Kind, Value string } }
	c.must("textDocument/hover", obj{"textDocument": obj{"uri": d.uri}, "position": obj{"line": 4, "character": 0}}, &h)
	require.Contains(t, h.Contents.Value, "-line 5\n+agent 5")

	c.chooses(d.uri, 4, "Accept hunk 1/3")
	c.hears("window/showMessage", "accepted 1 hunk")
	c.waitsForHunks("f", 2)
	require.Equal(t, after, w.get("f"))
	c.chooses(d.uri, 14, "Reject hunk 1/2")
	c.hears("window/showMessage", "rejected 1 hunk")
	c.waitsForHunks("f", 1)
	require.Contains(t, w.get("f"), "line 15\n")
	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	require.Equal(t, after, w.get("f"))
}

// TestLSPIsolated accepts by edits of the editor's documents: nothing is written before the person saves.
func TestLSPIsolated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(30, nil)
	after := numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	w.put("f", before)
	w.plays(lines(edits("c1", "f", before, after))...)
	c := w.lsp(modern(), obj{"isolation": "copy"})
	c.answering(allows)
	d := c.opens("f")
	c.does("cursord.ask", "change it")
	c.hears("window/showMessage", "done", "3 hunks to review")
	c.waitsForHunks("f", 3)
	require.Equal(t, before, w.get("f"))

	c.chooses(d.uri, 4, "Accept hunk 1/3")
	c.hears("window/showMessage", "accepted 1 hunk in your buffers")
	c.waitsForHunks("f", 2)
	require.Equal(t, strings.Replace(before, "line 5\n", "agent 5\n", 1), d.now())
	require.Equal(t, before, w.get("f"))

	// The editor's own undo brings it back.
	d.sets(before)
	c.waitsForHunks("f", 3)

	c.does("cursord.accept", obj{"path": "f", "line": 15})
	c.waitsForHunks("f", 2)
	c.does("cursord.reject", obj{"path": "f", "line": 5})
	c.hears("window/showMessage", "rejected 1 hunk")
	c.waitsForHunks("f", 1)
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	want := numbered(30, map[int]string{15: "agent 15a\nagent 15b\n", 25: ""})
	require.Equal(t, want, d.now())
	d.saves()
	require.Equal(t, want, w.get("f"))
	e := w.joins()
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	for len(e.diffs()) > 0 { // as soon as the daemon has seen the save
		e.until("the save", func(n told) bool { return n.Diff != nil && n.Diff.State == "clean" })
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
