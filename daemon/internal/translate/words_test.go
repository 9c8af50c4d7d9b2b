package translate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/failure"
)

const (
	root = "/home/me/src"
	tree = "/state/copies/01/tree"
)

// TestWords translates all events of an agent from the copy to the workspace, in the same order.
func TestWords(t *testing.T) {
	ws := New(tree, root, "/home/me/link")
	require.Equal(t, "see "+tree+"/a and "+tree+"/b", ws.Prompt("see /home/me/src/a and /home/me/link/b"))
	call := agent.Call{ID: "1", Title: "Read " + tree + "/a", Command: "cat " + tree + "/a", Paths: []string{tree + "/a", "b"}}
	want := agent.Call{ID: "1", Title: "Read " + root + "/a", Command: "cat " + root + "/a", Paths: []string{root + "/a", "b"}}
	said := func(events ...agent.Event) (all []agent.Event) {
		for _, ev := range ws.Events(events) {
			switch e := ev.(type) {
			case agent.ToolStart: // without empty values
				ev = agent.ToolStart{Call: agent.Call{ID: e.Call.ID, Title: e.Call.Title, Command: e.Call.Command, Paths: e.Call.Paths}}
			case agent.ToolEnd:
				ev = agent.ToolEnd{Call: agent.Call{ID: e.Call.ID, Title: e.Call.Title, Command: e.Call.Command, Paths: e.Call.Paths}, State: e.State}
			}
			all = append(all, ev)
		}
		return all
	}
	require.Equal(t, []agent.Event{agent.Text{Text: "in "}}, said(agent.Text{Text: "in /state/cop"}), "it may become the copy")
	require.Equal(t, []agent.Event{agent.Text{Text: root + "/a."}, agent.ToolStart{Call: want}},
		said(agent.Text{Text: "ies/01/tree/a."}, agent.ToolStart{Call: call}))
	require.Equal(t, []agent.Event{agent.Text{Text: "and "}}, said(agent.Text{Text: "and /state"}))
	require.Equal(t, []agent.Event{agent.ToolEnd{Call: want, State: agent.CallCompleted}}, said(agent.ToolEnd{Call: call, State: agent.CallCompleted}),
		"the end of an open call is no item: the text goes on")
	require.Equal(t, []agent.Event{agent.Text{Text: "/state"}, agent.Thinking{Text: "hm"}}, said(agent.Thinking{Text: "hm"}), "another text begins")
	require.Equal(t, []agent.Event{agent.Thinking{Text: " "}}, said(agent.Thinking{Text: " /stat"}))
	require.Equal(t, []agent.Event{agent.Thinking{Text: "/stat"}, agent.ThinkingEnd{}}, said(agent.ThinkingEnd{}))
	require.Equal(t, []agent.Event{agent.Notice{Text: root}, agent.Failure{Message: root}, agent.Waiting{Commands: []string{"make -C " + root}}},
		said(agent.Notice{Text: tree}, agent.Failure{Message: tree}, agent.Waiting{Commands: []string{"make -C " + tree}}))
	require.Empty(t, said(agent.Text{Text: "/state/copies"}))
	require.Equal(t, []agent.Event{agent.ApprovalRequested{
		ID: "1", Title: "make -C " + root, Detail: root, Command: root + "/x", Paths: []string{root + "/a"}, Options: []agent.ApprovalOption{{ID: "a", Label: "in " + root}},
	}}, said(agent.ApprovalRequested{
		ID: "1", Title: "make -C " + tree, Detail: tree, Command: tree + "/x", Paths: []string{tree + "/a"}, Options: []agent.ApprovalOption{{ID: "a", Label: "in " + tree}},
	}))
	require.Equal(t, []agent.Event{agent.Text{Text: "/state/copies"}}, ws.Flush(nil))
	require.Empty(t, ws.Flush(nil))
}

// TestTitles translates a title that was cut in the middle of the copy's path.
func TestTitles(t *testing.T) {
	ws := New(tree, root, "")
	for title, want := range map[string]string{
		"Edit " + tree + "/a":   "Edit " + root + "/a",
		"Edit /state/copies/0…": "Edit …",
		"Edit /st…":             "Edit …",
		"Edit /other…":          "Edit /other…",
		"Edit it…":              "Edit it…",
	} {
		require.Equal(t, want, ws.title(title), title)
	}
}

func TestOutcome(t *testing.T) {
	ws := New(tree, root, "")
	result, failed := "wrote "+tree, &failure.Error{Message: tree + " is full", Hint: "look at " + tree}
	out := agent.Outcome{Result: &result, Failure: failed}
	ws.Outcome(&out)
	require.Equal(t, "wrote "+root, *out.Result)
	require.Equal(t, failure.Error{Message: root + " is full", Hint: "look at " + root}, *out.Failure)
	require.Equal(t, "wrote "+tree, result)
	require.Equal(t, tree+" is full", failed.Message)
}

// TestNoWords leaves everything as it is.
func TestNoWords(t *testing.T) {
	var ws *Words
	events := []agent.Event{agent.Text{Text: tree}}
	require.Equal(t, events, ws.Events(events))
	require.Equal(t, tree, ws.Prompt(tree))
	require.Empty(t, ws.Flush(nil))
	out := agent.Outcome{}
	ws.Outcome(&out)
	require.Equal(t, agent.Outcome{}, out)
}
