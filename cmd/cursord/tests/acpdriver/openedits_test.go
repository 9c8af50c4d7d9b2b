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
