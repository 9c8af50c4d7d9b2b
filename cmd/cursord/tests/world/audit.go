//go:build unix

package world

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// Audit checks that the notifications of one subscription have the order that the protocol promises, and that the deltas of
// each text item add up to its text.
func Audit(t testing.TB, all []Notification) {
	t.Helper()
	last := uint64(0)
	type grown struct {
		text  []byte
		final bool
	}
	items := map[string]*grown{}
	open := map[string]map[string]bool{} // running items, by turn
	state := map[string]sessions.SessionState{}
	ended := map[string]bool{}
	revs := map[string]uint64{}
	for i, n := range all {
		if n.Seq > 0 {
			require.Greater(t, n.Seq, last, "seq of notification %d, %s", i, n.Method)
			last = n.Seq
		}
		switch n.Method {
		case "session/changed":
			if !n.Removed {
				state[n.Session.ID] = n.Session.State
				require.Equal(t, n.Seq, n.Session.Seq)
			}
		case "turn/changed":
			if n.Removed {
				continue
			}
			require.Equal(t, n.Seq, n.Turn.Seq)
			require.False(t, ended[n.Turn.ID], "turn %s changed after its end", n.Turn.ID)
			if n.Turn.Status.Final() {
				require.Empty(t, n.Turn.Background, "an ended turn waits for nothing")
				ended[n.Turn.ID] = true
				require.Empty(t, open[n.Turn.ID], "items that run past turn %s", n.Turn.ID)
				require.NotNil(t, n.Turn.EndedAt)
			}
		case "item/changed":
			it := n.Item
			require.Equal(t, n.Seq, it.Seq)
			require.False(t, ended[it.TurnID], "item %s after its turn's end", it.ID)
			g := items[it.ID]
			text := it.Kind == sessions.ItemAssistant || it.Kind == sessions.ItemThinking
			switch {
			case g == nil, text && it.Text == "":
				items[it.ID] = &grown{text: []byte(it.Text)}
			case text:
				require.Equal(t, it.Text, string(g.text), "deltas of %s and its text", it.ID)
			}
			items[it.ID].final = it.Status != sessions.ItemRunning
			if open[it.TurnID] == nil {
				open[it.TurnID] = map[string]bool{}
			}
			open[it.TurnID][it.ID] = true
			if it.Status != sessions.ItemRunning {
				delete(open[it.TurnID], it.ID)
				require.NotNil(t, it.EndedAt)
			}
		case "item/delta":
			g := items[n.ItemID]
			require.NotNil(t, g, "delta of %s before its item", n.ItemID)
			require.False(t, g.final, "delta of %s after its end", n.ItemID)
			require.False(t, ended[n.TurnID], "delta after its turn's end")
			require.Equal(t, len(g.text), n.Offset, "offset of a delta of %s", n.ItemID)
			require.NotEmpty(t, n.Text)
			g.text = append(g.text, n.Text...)
		case "diff/changed":
			only := n.Diff.Turns
			late := n.Diff.State == "pending" && len(only) == 1 && ended[only[0]] && n.Diff.Rev > revs[n.Diff.Path]
			require.False(t, late, "diff of %s after the end of its turn", n.Diff.Path)
			revs[n.Diff.Path] = n.Diff.Rev
		}
	}
}
