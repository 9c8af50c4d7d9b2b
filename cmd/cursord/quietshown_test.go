package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/chat"
	"cursord/cmd/cursord/internal/view"
)

// TestQuietIsShown has run and chat be told of a turn that only waits, and of what it says then.
func TestQuietIsShown(t *testing.T) {
	t.Parallel()
	const (
		waits = `{"workspace":"/w","seq":2,"turn":{"id":"t","sessionId":"s","prompt":"go","status":"running","background":["npm run dev"],"seq":2}}`
		says  = `{"workspace":"/w","seq":3,"item":{"id":"t:0","turnId":"t","sessionId":"s","index":0,"kind":"notice","status":"completed","text":"ready","seq":3}}`
		works = `{"workspace":"/w","seq":4,"turn":{"id":"t","sessionId":"s","prompt":"go","status":"running","seq":4}}`
	)
	type viewer interface {
		Notify(method string, params json.RawMessage)
		Tick(now time.Time)
	}
	for name, open := range map[string]func(*view.Screen) viewer{
		"run":  func(s *view.Screen) viewer { return view.NewFollower("t", s, nil) },
		"chat": func(s *view.Screen) viewer { return chat.NewView(s, "") },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			v := open(view.NewTerminal(&out, true))
			v.Notify("turn/changed", json.RawMessage(waits))
			v.Tick(time.Now())
			require.Contains(t, out.String(), "… waiting for 1 background command: npm run dev")
			out.Reset()
			v.Tick(time.Now())
			require.Empty(t, out.String(), "it stands there")
			v.Tick(time.Now().Add(2 * time.Minute))
			require.Contains(t, out.String(), "… no output for 2m 0s, waiting for 1 background command")
			v.Notify("item/changed", json.RawMessage(says))
			v.Notify("turn/changed", json.RawMessage(works))
			out.Reset()
			v.Tick(time.Now())
			require.Empty(t, out.String())
		})
	}
}
