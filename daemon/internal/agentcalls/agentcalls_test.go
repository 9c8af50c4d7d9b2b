package agentcalls

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/internal/clock"
	"cursord/diffs"
)

// TestParts cuts batches of calls. Each call is a word: s and S are the start and the end of a command, e and E of an edit.
func TestParts(t *testing.T) {
	events := map[rune]agent.Event{
		's': agent.ToolStart{Call: agent.Call{Name: "shell"}}, 'S': agent.ToolEnd{Call: agent.Call{Name: "shell"}},
		'e': agent.ToolStart{Call: agent.Call{Name: "edit"}}, 'E': agent.ToolEnd{Call: agent.Call{Name: "edit"}},
	}
	for batch, want := range map[string][]int{"": nil, "eE": {2}, "sS": {1, 1}, "eEsSeE": {3, 1, 2}, "S": {1}, "eSe": {2, 1}} {
		var all []agent.Event
		for _, r := range batch {
			all = append(all, events[r])
		}
		var got []int
		for part := range Parts(all) {
			got = append(got, len(part))
		}
		require.Equal(t, want, got, batch)
	}
	for part := range Parts([]agent.Event{events['s'], events['S']}) {
		require.Len(t, part, 1)
		break
	}
}

// TestSaidAt uses the times that agents give only if they come from this machine's clock.
func TestSaidAt(t *testing.T) {
	now := clock.Now()
	at := func(before time.Duration) time.Time { return time.Now().Add(-before) }
	for _, c := range []struct {
		name  string
		by    time.Time
		known bool
	}{
		{"no time", time.Time{}, false},
		{"a moment ago", at(100 * time.Millisecond), true},
		{"before the earliest moment, but not by much", at(2 * time.Second), true},
		{"an hour ago", at(time.Hour), false},
		{"in an hour", at(-time.Hour), false},
	} {
		got, known := SaidAt(c.by, now-int64(time.Second), now)
		require.Equal(t, c.known, known, c.name)
		if !known {
			require.Equal(t, now, got, c.name)
		} else {
			require.Less(t, got, now, c.name)
		}
	}
}

// TestRefused finds the refused calls that may have run, and says whose their changes are.
func TestRefused(t *testing.T) {
	asked := time.Now()
	no := asked.Add(time.Minute)
	may := agent.ToolEnd{Call: agent.Call{Title: "b"}, State: agent.CallRejected, Asked: asked, Refused: no}
	ran := may
	ran.State = agent.CallCompleted
	events := []agent.Event{agent.ToolEnd{Call: agent.Call{Title: "a"}, State: agent.CallRejected}, agent.ToolStart{}, may, ran}
	require.Equal(t, map[int]string{1: "b"}, Refused(events))
	require.Nil(t, Refused(events[:2]))

	require.Equal(t, clock.At(no), endedBy(&may, &agent.Heard{}, clock.At(asked)))
	require.Equal(t, clock.At(no)+1, endedBy(&may, &agent.Heard{}, clock.At(no)+1))

	require.Equal(t, diffs.ViaUnknown, ViaEnd(&may, clock.At(asked), false))
	require.Equal(t, diffs.ViaUnknown, ViaEnd(&may, clock.At(no)-1, false), "the file system's clock may be slow")
	require.Equal(t, diffs.ViaEdit, ViaEnd(&may, clock.At(no), false))
	require.Equal(t, diffs.ViaEdit, ViaEnd(&may, clock.At(asked), true))
	require.Equal(t, diffs.ViaEdit, ViaEnd(&ran, clock.At(asked), false))
}

// TestLast takes the latest call.
func TestLast(t *testing.T) {
	one, two := 1, 2
	open := map[string][]*int{"a": {&one, &two}}
	require.Equal(t, &two, Last(open, "a"))
	require.Equal(t, &one, Last(open, "a"))
	require.Nil(t, Last(open, "a"))
	require.Empty(t, open)
}
