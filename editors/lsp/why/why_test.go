package why

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

func TestText(t *testing.T) {
	t.Parallel()
	at := &sessions.Time{Time: time.Date(2026, 11, 26, 12, 30, 0, 0, time.Local)}
	source := func(change func(*api.WhySource)) *api.WhySource {
		s := &api.WhySource{SessionID: "s", TurnID: "t1", Prompt: "do it", At: at, State: api.WhyAccepted}
		if change != nil {
			change(s)
		}
		return s
	}
	const head = "**why** accepted · 2026-11-26 12:30 · session “Title” · turn t1"
	for name, c := range map[string]struct {
		from   *api.WhySource
		former bool
		want   string
	}{
		"a prompt":               {source(nil), true, head + "\n\n> do it"},
		"former lines":           {source(func(s *api.WhySource) { s.Was, s.WasMore = []string{"\told", "```"}, 2 }), true, head + "\n\n> do it\n\nbefore:\n\n````diff\n-\told\n-```\n-… and 2 more lines\n````"},
		"that are shown already": {source(func(s *api.WhySource) { s.Was = []string{"old"} }), false, head + "\n\n> do it"},
		"a long prompt":          {source(func(s *api.WhySource) { s.Prompt = strings.Repeat("a\n", 10) }), true, head + "\n\n" + strings.Repeat("> a\n", 8) + "> … and 2 more lines"},
		"no prompt":              {source(func(s *api.WhySource) { s.Prompt = "" }), true, head + "\n\nIts session was deleted, or its turn was taken back."},
		"by the text":            {source(func(s *api.WhySource) { s.ByText = true }), true, head + " · a guess by the text\n\n> do it"},
		"in doubt":               {source(func(s *api.WhySource) { s.MaybeYours = true }), true, head + " · may be yours: it is not surely the agent's\n\n> do it"},
	} {
		require.Equal(t, c.want, Text(c.from, "Title", c.former), name)
	}
	require.Equal(t, "**why** pending · turn t1\n\n> do it", Text(source(func(s *api.WhySource) { s.At, s.State = nil, api.WhyPending }), "", true))
}

func TestLineOnDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, disk string
		line, want       int // -1: none
	}{
		{"saved", "a\nb\n", "a\nb\n", 1, 1},
		{"line ends and a mark", "a\nb\n", "\ufeffa\r\nb\r\n", 1, 1},
		{"before what was typed", "a\nnew\nb\n", "a\nb\n", 0, 0},
		{"typed", "a\nnew\nb\n", "a\nb\n", 1, -1},
		{"behind what was typed", "a\nnew\nb\n", "a\nb\n", 2, 1},
		{"behind what was taken out", "a\nc\n", "a\nb\nc\n", 1, 2},
		{"between two edits", "1\nx\ny\nz\n2\n", "x\ny\nz\n", 2, 1},
		{"twice", "1\ny\ny\n2\n", "x\ny\ny\nz\n", 1, -1},
		{"outside", "a\n", "a\n", 5, -1},
		{"an empty file", "a\n", "", 0, -1},
	} {
		got, ok := LineOnDisk(c.text, c.disk, c.line)
		if !ok {
			got = -1
		}
		require.Equal(t, c.want, got, c.name)
	}
}
