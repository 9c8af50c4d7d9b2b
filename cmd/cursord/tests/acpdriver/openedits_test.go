//go:build unix

package acpdriver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// editsAndWaits has an agent that never reports the end of an edit change a line, say so, and wait for the file go. It returns when the words have come.
func editsAndWaits(t *testing.T, driver string) (*world.World, *world.Editor, *sessions.Turn) {
	w, e := starts(t)
	w.Put("h.txt", "l1\nl2\nl3\n")
	w.Plays(`{"fake":"begin"}`, `{"fake":"edit","path":"h.txt","text":"l1\nAGENT\nl3\n"}`,
		`{"fake":"say","text":"I have. "}`, `{"fake":"wait","path":"../go"}`, `{"fake":"say","text":"Done."}`, `{"fake":"finish"}`)
	turn := e.Asks(world.Obj{"driver": driver})
	e.Says("I have. ")
	return w, e, turn
}

// requireChange waits until h.txt is listed, with these lines.
func requireChange(e *world.Editor, want ...string) {
	var d *sessions.Diff
	require.True(e.T, world.Comes(world.Patience, func() bool {
		d = e.Diffs()["h.txt"]
		return d != nil
	}), "not listed")
	var lines []string
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l[0] != ' ' {
				lines = append(lines, l)
			}
		}
	}
	require.Equal(e.T, want, lines)
}

// TestOpenEditIsListed while the turn goes on, with its item's end.
func TestOpenEditIsListed(t *testing.T) {
	t.Parallel()
	w, e, turn := editsAndWaits(t, "acp")
	requireChange(e, "-l2", "+AGENT")
	require.Equal(t, []string{"edit"}, world.Vias(e.Diffs()["h.txt"]))
	require.Contains(t, w.CursordOK("diff"), "+AGENT")
	var tools []sessions.ItemStatus
	for _, item := range e.Items(turn.ID) {
		if item.Tool != nil {
			tools = append(tools, item.Status)
		}
	}
	require.Equal(t, []sessions.ItemStatus{sessions.ItemCompleted}, tools)
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	requireChange(e, "-l2", "+AGENT")
}

// TestSaveAfterOpenEdit is a person's, in both drivers.
func TestSaveAfterOpenEdit(t *testing.T) {
	for name, test := range map[string]struct {
		saved, rejected string
		listed          []string
	}{
		"another line":     {"l1\nAGENT\nl3\nme\n", "l1\nl2\nl3\nme\n", []string{"-l2", "+AGENT"}},
		"the agent's line": {"l1\nAGENT+me\nl3\n", "l1\nl2\nAGENT+me\nl3\n", []string{"-l2"}},
	} {
		for _, driver := range []string{"acp", "print"} {
			t.Run(name+", "+driver, func(t *testing.T) {
				t.Parallel()
				w, e, turn := editsAndWaits(t, driver)
				requireChange(e, "-l2", "+AGENT")
				w.Put("h.txt", test.saved)
				w.Put("../go", "")
				require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
				requireChange(e, test.listed...)
				e.Must("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
				require.Equal(t, test.rejected, w.Get("h.txt"))
			})
		}
	}
}

// TestKilledAfterOpenEdit: the change stays listed.
func TestKilledAfterOpenEdit(t *testing.T) {
	t.Parallel()
	w, e, _ := editsAndWaits(t, "acp")
	requireChange(e, "-l2", "+AGENT")
	w.Kill()
	w.Start(newest)
	e = w.Opens()
	requireChange(e, "-l2", "+AGENT")
	e.Must("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
	require.Equal(t, "l1\nl2\nl3\n", w.Get("h.txt"))
}

// TestOddEditsAreListed: edits that are written after the agent's next words and reported then, that have no id, or that name no file.
func TestOddEditsAreListed(t *testing.T) {
	const announced = `"title":"Edit File","kind":"edit","status":"in_progress"`
	update := func(of string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{session}}","update":` + of + `}}`
	}
	for name, calls := range map[string][2]string{
		"written after words": {`{"sessionUpdate":"tool_call","toolCallId":"1",` + announced + `,"rawInput":{"path":"h.txt"}}`, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`},
		"no id":               {`{"sessionUpdate":"tool_call","toolCallId":"",` + announced + `,"rawInput":{"path":"h.txt"}}`, `{"sessionUpdate":"tool_call_update","toolCallId":"","status":"completed"}`},
		"null as id":          {`{"sessionUpdate":"tool_call","toolCallId":null,` + announced + `}`, `{"sessionUpdate":"tool_call_update","toolCallId":null,"status":"completed"}`},
		"no file":             {`{"sessionUpdate":"tool_call","toolCallId":"1",` + announced + `}`, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`},
		"no file, no end":     {`{"sessionUpdate":"tool_call","toolCallId":"1",` + announced + `}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("h.txt", "l1\nl2\nl3\n")
			play := []string{`{"fake":"begin"}`, update(calls[0]), `{"fake":"say","text":"So. "}`, `{"fake":"write","path":"h.txt","text":"l1\nAGENT\nl3\n"}`}
			if calls[1] != "" {
				play = append(play, update(calls[1]))
			}
			w.Plays(append(play, `{"fake":"say","text":"Done."}`, `{"fake":"finish"}`)...)
			turn := e.Asks(byACP)
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			requireChange(e, "-l2", "+AGENT")
			e.Must("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
			require.Equal(t, "l1\nl2\nl3\n", w.Get("h.txt"))
		})
	}
}

// TestCommandAfterOpenEdit: an edit whose end nobody reports has its own change, and a command behind it has what it changes in the same file.
func TestCommandAfterOpenEdit(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Put("h.txt", "l1\nl2\nl3\n")
	w.Plays(`{"fake":"edit","path":"h.txt","text":"l1\nAGENT\nl3\n"}`,
		`{"fake":"shell","command":"while [ ! -e ../go ]; do sleep 0.05; done; echo COMMAND >>h.txt"}`, `{"fake":"say","text":"Done."}`)
	turn := e.Asks(byACP)
	e.Until("the command", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Tool != nil && n.Item.Tool.Name == "shell"
	})
	requireChange(e, "-l2", "+AGENT")
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	var patches []string
	for _, item := range e.Items(turn.ID) {
		if item.Tool != nil {
			require.Equal(t, sessions.ItemCompleted, item.Status, item.Tool.Title)
			require.Len(t, item.Changes, 1, item.Tool.Title)
			patches = append(patches, item.Changes[0].Patch)
		}
	}
	require.Equal(t, []string{"@@ -1,3 +1,3 @@\n l1\n-l2\n+AGENT\n l3\n", "@@ -1,3 +1,4 @@\n l1\n AGENT\n l3\n+COMMAND\n"}, patches)
}

// TestOpenEditThatKeepsTheTime: an edit of which only the file's content tells that it has written is no failure beside a change.
func TestOpenEditThatKeepsTheTime(t *testing.T) {
	t.Parallel()
	w, e := starts(t)
	w.Put("h.txt", "l1\nl2\nl3\n")
	w.Plays(`{"fake":"begin"}`, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{session}}","update":{"sessionUpdate":"tool_call","toolCallId":"1",`+
		`"title":"Edit File","kind":"edit","status":"in_progress","rawInput":{"path":"h.txt"}}}}`, `{"fake":"wait","path":"../go"}`,
		`{"fake":"write","path":"h.txt","text":"l1\nAGENT\nl3\n"}`, `{"fake":"exec","argv":["touch","-t","200001010000","h.txt"]}`, `{"fake":"say","text":"Done."}`)
	turn := e.Asks(byACP)
	e.Until("the edit", func(n world.Notification) bool { return n.Item != nil && n.Item.Tool != nil })
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	requireChange(e, "-l2", "+AGENT")
	edit := e.Items(turn.ID)[0]
	require.Equal(t, sessions.ItemCompleted, edit.Status)
	require.Empty(t, edit.Tool.Error)
	require.Empty(t, string(edit.Tool.Result))
	require.Len(t, edit.Changes, 1)
}
