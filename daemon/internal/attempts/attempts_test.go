package attempts

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

func TestTail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {" \n\n", ""},
		"few lines":       {"a\nb\n", "a\nb"},
		"many lines":      {strings.Repeat("a\n", 50) + "end\n", strings.Repeat("a\n", 19) + "end"},
		"written over":    {"1 %\r50 %\r100 %\r\nok\r\n", "100 %\nok"},
		"one long line":   {strings.Repeat("é", 5000), strings.Repeat("é", tailMax/2)},
		"no end of lines": {"a", "a"},
	} {
		require.Equal(t, test.want, tail(test.text), name)
	}
}

func TestOutputKeepsBothEnds(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, endMax, endMax + 1, 2 * endMax, 2*endMax + 1, 5*endMax + 7} {
		for _, part := range []int{1000, 300_000} {
			var o output
			all := strings.Repeat("0123456789", size/10+1)[:size]
			for rest := all; rest != ""; {
				n := min(part, len(rest))
				o.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			text := o.text()
			if size <= 2*endMax {
				require.Equal(t, all, text, size)
				continue
			}
			require.True(t, strings.HasPrefix(text, all[:endMax]) && strings.HasSuffix(text, all[size-endMax:]), size)
			require.Contains(t, text, "bytes left out")
			require.LessOrEqual(t, len(o.last), 2*endMax)
		}
	}
	var o output
	o.Write([]byte("\x1b[31mred\x1b[0m \xff\x00"))
	require.Equal(t, "red \uFFFD\uFFFD", o.text())
}

func TestLastLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "", lastLine("\n \n"))
	require.Equal(t, "Done.", lastLine("First.\n\nDone.\n\n"))
	require.Len(t, []rune(lastLine(strings.Repeat("ä", 1000))), answerMax)
}

// a store of a few sessions; turns are the latest first.
type fixture struct {
	sessions []*sessions.Session
	turns    map[string][]*sessions.Turn
	items    map[string]*sessions.Item
}

func (f fixture) store() Store {
	return Store{
		Sessions: func(_, cursor string, _ int) ([]*sessions.Session, string, error) { // one on a page
			n := len(cursor)
			if n+1 < len(f.sessions) {
				return f.sessions[n : n+1], cursor + "+", nil
			}
			return f.sessions[n:], "", nil
		},
		Turns: func(id, _ string, _ int) ([]*sessions.Turn, bool, error) {
			if turns, ok := f.turns[id]; ok {
				return turns, false, nil
			}
			return nil, false, sessions.ErrNotFound
		},
		Item: func(id string) (*sessions.Item, error) {
			if it := f.items[id]; it != nil {
				return it, nil
			}
			return nil, sessions.ErrNotFound
		},
	}
}

func at(minute int) sessions.Time {
	return sessions.Time{Time: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
}

func attemptSession(id, group string, number, of, minute int) *sessions.Session {
	return &sessions.Session{ID: id, CreatedAt: at(minute), Attempt: &sessions.Attempt{Group: group, Number: number, Of: of}}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	text, code := "First.\nLast.", 2
	source := func(session, turn string) []sessions.Source {
		return []sessions.Source{{SessionID: session, TurnID: turn}}
	}
	f := fixture{
		sessions: []*sessions.Session{
			attemptSession("b2", "b", 2, 2, 5), attemptSession("b1", "b", 1, 2, 4), {ID: "none"}, attemptSession("a1", "a", 1, 3, 1), attemptSession("gone", "a", 2, 3, 1),
		},
		turns: map[string][]*sessions.Turn{
			"b1": {{ID: "b1-2", Prompt: "more", Status: sessions.TurnRunning, Waiting: true}, {ID: "b1-c", Check: true, Prompt: "make", Status: sessions.TurnFailed, Result: &text},
				{ID: "b1-1", Prompt: "do b", Status: sessions.TurnCompleted}},
			"b2": {{ID: "b2-c", Check: true, Prompt: "make", Status: sessions.TurnCompleted}, {ID: "b2-1", Prompt: "do b", Status: sessions.TurnCompleted, Result: &text}},
			"a1": {{ID: "a1-1", Prompt: "do a", Status: sessions.TurnFailed, Error: &sessions.TurnError{Kind: "usageLimit"}}},
		},
		items: map[string]*sessions.Item{"b1-c:0": {Kind: sessions.ItemNotice}, "b1-c:1": {Tool: &sessions.Tool{ExitCode: &code}}},
	}
	diffs := []*sessions.Diff{
		{Path: "f", Hunks: []sessions.Hunk{
			{Lines: []string{" x", "-a", "+b", "+c"}, Sources: source("b2", "b2-1")},
			{Lines: []string{"+d"}, Beside: []int{0}, Sources: append(source("b2", "b2-c"), source("b2", "b2-1")...)},
			{Lines: []string{"+report"}, Sources: source("b2", "b2-c")},
			{Lines: []string{"+other"}, Sources: source("none", "n")},
		}},
		{Path: "g", Hunks: []sessions.Hunk{{Kind: "file", Sources: source("b2", "b2-old")}}},
	}
	groups, err := Groups(f.store(), "/w", "", diffs)
	require.NoError(t, err)
	require.Equal(t, []api.AttemptGroup{
		{Group: "b", Prompt: "do b", Of: 2, CreatedAt: at(4), Attempts: []api.AttemptState{
			{Number: 1, SessionID: "b1", TurnID: "b1-2", Status: sessions.TurnRunning, Waiting: true,
				Check: &api.AttemptCheck{TurnID: "b1-c", Command: "make", Status: sessions.TurnFailed, ExitCode: &code, Output: text, Stale: true}},
			{Number: 2, SessionID: "b2", TurnID: "b2-1", Status: sessions.TurnCompleted, Answer: "Last.", Files: 2, Hunks: 3, Added: 3, Removed: 1, Beside: 1,
				Check: &api.AttemptCheck{TurnID: "b2-c", Command: "make", Status: sessions.TurnCompleted, Hunks: 1}},
		}},
		{Group: "a", Prompt: "do a", Of: 3, CreatedAt: at(1), Attempts: []api.AttemptState{
			{Number: 1, SessionID: "a1", TurnID: "a1-1", Status: sessions.TurnFailed, Error: &sessions.TurnError{Kind: "usageLimit"}},
		}},
	}, groups)

	groups, err = Groups(f.store(), "/w", "none", diffs)
	require.NoError(t, err)
	require.Empty(t, groups)

	others, err := Others(f.store(), "/w", "b", []string{"b1"})
	require.NoError(t, err)
	require.Equal(t, "b2", others[0].ID)
	require.Len(t, others, 1)
	_, err = Others(f.store(), "/w", "b", []string{"a1"})
	require.ErrorContains(t, err, "keep")
	_, err = Others(f.store(), "/w", "none", nil)
	require.ErrorContains(t, err, "no attempts")
}
