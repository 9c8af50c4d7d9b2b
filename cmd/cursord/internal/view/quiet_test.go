package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestQuiet is about what a person sees of a turn that says nothing, by the time that has passed.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		turn  *sessions.Turn
		after time.Duration
		want  string
	}{
		{nil, time.Hour, ""},
		{&sessions.Turn{Status: sessions.TurnQueued}, time.Hour, ""},
		{&sessions.Turn{Status: sessions.TurnRunning}, 59*time.Second + 900*time.Millisecond, ""},
		{&sessions.Turn{Status: sessions.TurnRunning}, time.Minute, "no output for 1m 0s"},
		{&sessions.Turn{Status: sessions.TurnRunning}, 80*time.Second + time.Millisecond, "no output for 1m 20s"},
		{&sessions.Turn{Status: sessions.TurnRunning}, 2*time.Hour + 5*time.Minute + time.Second, "no output for 2h 5m"},
		{&sessions.Turn{Status: sessions.TurnRunning, Background: []string{"npm run dev"}}, 0, "waiting for 1 background command: npm run dev"},
		{&sessions.Turn{Status: sessions.TurnRunning, Background: []string{"a", "b"}}, 80 * time.Second, "no output for 1m 20s, waiting for 2 background commands: a, …"},
		{&sessions.Turn{Status: sessions.TurnCompleted}, time.Hour, ""},
	} {
		q := Quiet{turn: tt.turn}
		require.Equal(t, tt.want, q.Text(q.since.Add(tt.after)))
	}
}

// TestQuietOnAScreen shows silence on a terminal: it never stays, and never in the agent's text.
func TestQuietOnAScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := func() *Screen {
		out.Reset()
		return NewTerminal(&out)
	}
	const wiped = "\r\x1b[K"
	shown := func() string {
		var left []string
		for _, line := range strings.Split(out.String(), "\n") {
			left = append(left, line[strings.LastIndex(wiped+line, wiped):])
		}
		return strings.NewReplacer("\x1b[2m", "", "\x1b[0m", "", "\x1b[32m", "").Replace(strings.Join(left, "\n"))
	}
	call := &sessions.Item{ID: "c", Kind: sessions.ItemTool, Status: sessions.ItemRunning, Tool: &sessions.Tool{Name: "read", Title: "Read a"}}

	s := terminal()
	s.say("i", "One.")
	s.Quiet("no output for 1m 0s")
	s.Quiet("no output for 1m 1s")
	require.Equal(t, "One.\n… no output for 1m 1s", shown())
	s.say("i", " Two.\n")
	require.Equal(t, "One.\n Two.\n", shown())

	s = terminal()
	s.Item(call)
	s.Quiet("no output for 1m 0s")
	require.Equal(t, "… no output for 1m 0s: Read a", shown())
	s.Quiet("")
	require.Equal(t, "… Read a", shown())
	s.Quiet("no output for 1m 0s")
	ended := *call
	ended.Status = sessions.ItemCompleted
	s.Item(&ended)
	s.Quiet("no output for 1m 0s")
	require.Equal(t, "✓ Read a\n… no output for 1m 0s", shown(), "the call does not run any more")
	s.End()
	require.Equal(t, "✓ Read a\n", shown())

	s = terminal()
	s.errTerm = false
	s.Quiet("no output for 1m 0s")
	require.Empty(t, out.String(), "nothing of it goes into a pipe")
}
