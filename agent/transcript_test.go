package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// check decodes a stream, one line at a time, and compares its events with a transcript.
func check(t *testing.T, stream, want string) {
	t.Helper()
	d := NewDecoder()
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(stream), "\n") {
		for _, ev := range d.Line([]byte(strings.TrimSpace(line))) {
			got = append(got, transcribe(ev))
		}
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	require.Equal(t, strings.Join(lines, "\n"), strings.Join(got, "\n"))
}

// transcribe returns an event as one line.
func transcribe(ev Event) string {
	switch ev := ev.(type) {
	case Init:
		return strings.TrimSpace(fmt.Sprintf("init %s %s %s", ev.SessionID, ev.Dir, ev.Model))
	case Text:
		return fmt.Sprintf("text %q", ev.Text)
	case TextEnd:
		return "end of text"
	case Withdraw:
		return "withdraw"
	case Thinking:
		return fmt.Sprintf("thinking %q", ev.Text)
	case ThinkingEnd:
		return "end of thinking"
	case ToolStart:
		return "start " + transcribeCall(ev.Call)
	case ToolEnd:
		return string(ev.State) + " " + transcribeCall(ev.Call)
	case Result:
		s := "result failed"
		if ev.OK {
			s = "result ok"
		}
		if ev.Text != nil {
			s += fmt.Sprintf(" text=%q", *ev.Text)
		}
		if ev.Error != "" {
			s += fmt.Sprintf(" error=%q", ev.Error)
		}
		for _, id := range []string{ev.SessionID, ev.RequestID} {
			if id != "" {
				s += " " + id
			}
		}
		if ev.Usage != nil {
			s += fmt.Sprintf(" usage=%d/%d/%d/%d", ev.Usage.Input, ev.Usage.Output, ev.Usage.CacheRead, ev.Usage.CacheWrite)
		}
		return s
	case Failure:
		return fmt.Sprintf("failure %q", ev.Message)
	case Notice:
		return fmt.Sprintf("notice %q", ev.Text)
	case Waiting:
		return strings.TrimSpace("waiting " + strings.Join(ev.Commands, "; "))
	case BackgroundEnded:
		return "ended in the background " + strings.ReplaceAll(strings.Join(ev.Calls, " "), "\n", `\n`)
	case Unknown:
		return "unknown " + ev.Type
	case Unreadable:
		return fmt.Sprintf("unreadable %q", ev.Line)
	}
	return fmt.Sprintf("%T", ev)
}

func transcribeCall(c Call) string {
	s := fmt.Sprintf("%s %s/%s %q", strings.ReplaceAll(c.ID, "\n", `\n`), c.Name, c.RawName, c.Title)
	if len(c.Paths) > 0 {
		s += " paths=" + strings.Join(c.Paths, ",")
	}
	if c.Command != "" && c.Command != c.Title {
		s += fmt.Sprintf(" command=%q", c.Command)
	}
	if c.Plan != "" {
		s += fmt.Sprintf(" plan=%q", c.Plan)
	}
	if c.ExitCode != nil {
		s += fmt.Sprintf(" exit=%d", *c.ExitCode)
	}
	if c.Output != "" {
		s += fmt.Sprintf(" output=%q", c.Output)
	}
	if c.Background {
		s += " in the background"
	}
	if c.Error != "" {
		s += fmt.Sprintf(" error=%q", c.Error)
	}
	for _, todo := range c.Todos {
		s += fmt.Sprintf(" todo=%s:%s:%s", todo.ID, todo.Content, todo.Status)
	}
	for _, change := range c.Changes {
		s += " change=" + change.Path + "(" + side(change.Before) + "->" + side(change.After) + ")"
		if change.Deleted {
			s += "deleted"
		}
	}
	return s
}

func side(s *string) string {
	if s == nil {
		return "?"
	}
	return fmt.Sprintf("%q", *s)
}

func quote(s string) string { return fmt.Sprintf("%q", s) }
