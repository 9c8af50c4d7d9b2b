package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// Audit checks what one subscription was told against the order that the protocol promises, and that the deltas of
// each text item are its text.
func Audit(t testing.TB, all []Notification) {
	t.Helper()
	last := uint64(0)
	type grown struct {
		text  string
		final bool
	}
	items := map[string]*grown{}
	open := map[string]map[string]bool{} // items that run, by turn
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
				items[it.ID] = &grown{text: it.Text}
			case text:
				require.Equal(t, it.Text, g.text, "deltas of %s and its text", it.ID)
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
			g.text += n.Text
		case "diff/changed":
			only := n.Diff.Turns
			late := n.Diff.State == "pending" && len(only) == 1 && ended[only[0]] && n.Diff.Rev > revs[n.Diff.Path]
			require.False(t, late, "diff of %s after the end of its turn", n.Diff.Path)
			revs[n.Diff.Path] = n.Diff.Rev
		}
	}
}

// Describe returns a turn's items, one a string.
func (e *Editor) Describe(turn string) (lines []string) {
	var items []*sessions.Item
	for _, n := range e.All() {
		if n.Method == "item/changed" && n.Item.TurnID == turn {
			for len(items) <= n.Item.Index {
				items = append(items, nil)
			}
			items[n.Item.Index] = n.Item
		}
	}
	for _, it := range items {
		if it == nil {
			lines = append(lines, "(missing)")
			continue
		}
		s := fmt.Sprintf("%s %s", it.Kind, it.Status)
		if tool := it.Tool; tool != nil {
			s += fmt.Sprintf(" %s/%s %q", tool.Name, tool.RawName, tool.CallID)
			if tool.ExitCode != nil {
				s += fmt.Sprintf(" exit=%d", *tool.ExitCode)
			}
			if tool.Output != "" {
				s += fmt.Sprintf(" out=%q", tool.Output)
			}
			if tool.Error != "" {
				s += fmt.Sprintf(" err=%q", tool.Error)
			}
			for _, todo := range tool.Todos {
				s += fmt.Sprintf(" todo=%s:%s:%s", todo.ID, todo.Content, todo.Status)
			}
		}
		if it.Text != "" {
			s += fmt.Sprintf(" %q", it.Text)
		}
		lines = append(lines, s)
	}
	return lines
}

// Processes lists the processes whose environment has these variables, "NAME=" being one of any value.
func Processes(t testing.TB, variables ...string) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !HasVariables(env, variables) {
			continue
		}
		if stat, err := os.ReadFile(dir + "/stat"); err != nil || bytes.Contains(stat, []byte(") Z ")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

func HasVariables(env []byte, variables []string) bool {
	for _, v := range variables {
		if !strings.HasSuffix(v, "=") {
			v += "\x00"
		}
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+v)) {
			return false
		}
	}
	return true
}
