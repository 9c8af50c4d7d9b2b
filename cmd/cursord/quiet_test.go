package main

import (
	"bytes"
	"encoding/json"
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
		q := quiet{turn: tt.turn}
		require.Equal(t, tt.want, q.text(q.since.Add(tt.after)))
	}
}

// TestQuietOnAScreen shows silence on a terminal: it never stays, and never in the agent's text.
func TestQuietOnAScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := func() *screen {
		out.Reset()
		return &screen{out: &out, errOut: &out, outTerm: true, errTerm: true, together: true, palette: true, shown: map[string]int{}}
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
	s.quiet("no output for 1m 0s")
	s.quiet("no output for 1m 1s")
	require.Equal(t, "One.\n… no output for 1m 1s", shown())
	s.say("i", " Two.\n")
	require.Equal(t, "One.\n Two.\n", shown())

	s = terminal()
	s.item(call)
	s.quiet("no output for 1m 0s")
	require.Equal(t, "… no output for 1m 0s: Read a", shown())
	s.quiet("")
	require.Equal(t, "… Read a", shown())
	s.quiet("no output for 1m 0s")
	ended := *call
	ended.Status = sessions.ItemCompleted
	s.item(&ended)
	s.quiet("no output for 1m 0s")
	require.Equal(t, "✓ Read a\n… no output for 1m 0s", shown(), "the call does not run any more")
	s.end()
	require.Equal(t, "✓ Read a\n", shown())

	s = terminal()
	s.errTerm = false
	s.quiet("no output for 1m 0s")
	require.Empty(t, out.String(), "nothing of it goes into a pipe")
}

// TestQuietIsShown has run and chat be told of a turn that only waits, and of what it says then.
func TestQuietIsShown(t *testing.T) {
	t.Parallel()
	const (
		waits = `{"workspace":"/w","seq":2,"turn":{"id":"t","sessionId":"s","prompt":"go","status":"running","background":["npm run dev"],"seq":2}}`
		says  = `{"workspace":"/w","seq":3,"item":{"id":"t:0","turnId":"t","sessionId":"s","index":0,"kind":"notice","status":"completed","text":"ready","seq":3}}`
		works = `{"workspace":"/w","seq":4,"turn":{"id":"t","sessionId":"s","prompt":"go","status":"running","seq":4}}`
	)
	type view interface {
		notify(method string, params json.RawMessage)
		tick(now time.Time)
	}
	for name, open := range map[string]func(*screen) view{
		"run":  func(s *screen) view { return newFollower("t", s, nil) },
		"chat": func(s *screen) view { return newChatView(s, "") },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			v := open(&screen{out: &out, errOut: &out, outTerm: true, errTerm: true, together: true, palette: true, shown: map[string]int{}})
			v.notify("turn/changed", json.RawMessage(waits))
			v.tick(time.Now())
			require.Contains(t, out.String(), "… waiting for 1 background command: npm run dev")
			out.Reset()
			v.tick(time.Now())
			require.Empty(t, out.String(), "it stands there")
			v.tick(time.Now().Add(2 * time.Minute))
			require.Contains(t, out.String(), "… no output for 2m 0s, waiting for 1 background command")
			v.notify("item/changed", json.RawMessage(says))
			v.notify("turn/changed", json.RawMessage(works))
			out.Reset()
			v.tick(time.Now())
			require.Empty(t, out.String())
		})
	}
}
