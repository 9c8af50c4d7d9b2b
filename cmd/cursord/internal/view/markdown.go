package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// Markdown writes a session for people. The agent's text stays Markdown; other text stands in fences.
type Markdown struct {
	W     io.Writer
	Tamed bool           // without control characters, for a terminal
	Brief bool           // tool calls and thoughts as one line each, edits as patches; for a reader who follows the session
	Lines map[string]int // if it is not nil, it gets the lines, from 0, at which turns and items begin, by id
	lines int            // that are written
	open  *sessions.Turn // the turn whose end is not written yet
	todos []sessions.Todo
}

func (m *Markdown) print(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if m.Tamed {
		text = term.CleanText(text)
	}
	m.lines += strings.Count(text, "\n")
	_, _ = io.WriteString(m.W, text) // the caller's writer keeps the error
}

// begins notes where a turn or an item begins: behind an empty line.
func (m *Markdown) begins(id string) {
	if m.Lines != nil {
		m.Lines[id] = m.lines + 1
	}
}

// Session writes the head of an exported session. Call Turn and Item for each of its turns, then End.
func (m *Markdown) Session(s *sessions.Session) {
	title := s.Title
	if title == "" {
		title = "Session " + s.ID
	}
	m.print("# %s\n\n", oneLine(title))
	m.print("- session: %s\n- workspace: %s\n- created: %s\n- turns: %d\n", s.ID, oneLine(s.Workspace), s.CreatedAt.Format(time.RFC3339), s.Turns)
	if s.Model != nil {
		m.print("- model: %s\n", oneLine(*s.Model))
	}
}

// Turn begins a turn.
func (m *Markdown) Turn(t *sessions.Turn) {
	m.End()
	m.open = t
	m.begins(t.ID)
	m.print("\n## Prompt\n\n")
	for line := range strings.Lines(strings.TrimRight(t.Asked(), "\n")) {
		m.print("> %s\n", strings.TrimRight(line, "\r\n"))
	}
	for i, line := range Sent(t) {
		if i == 0 {
			m.print(">\n")
		}
		m.print("> %s\n", line)
	}
}

// Item writes an item of the latest turn.
func (m *Markdown) Item(it *sessions.Item) {
	m.begins(it.ID)
	switch it.Kind {
	case sessions.ItemTool:
		if m.Brief {
			m.briefTool(it)
			return
		}
		m.tool(it)
	case sessions.ItemThinking:
		if m.Brief {
			m.briefThinking(it.Text)
			return
		}
		m.print("\n*Thinking*\n\n")
		m.fence("", it.Text)
	case sessions.ItemNotice:
		m.print("\n*Note: %s*\n", oneLine(it.Text))
	case sessions.ItemPlan:
		m.print("\n*Plan*\n\n%s\n", strings.Trim(it.Text, "\n"))
		for _, line := range Reply(term.Palette(false), it) {
			m.print("\n%s\n", line)
		}
	default:
		if text := strings.Trim(it.Text, "\n"); text != "" {
			m.print("\n%s\n", text)
		}
	}
}

func (m *Markdown) tool(it *sessions.Item) {
	t := it.Tool
	if t == nil {
		return
	}
	m.print("\n### %s\n\n", oneLine(toolTitle(t)))
	status := string(it.Status)
	if t.ExitCode != nil {
		status += fmt.Sprintf(", exit status %d", *t.ExitCode)
	}
	m.print("- tool: %s\n- status: %s\n", oneLine(t.RawName), status)
	for _, path := range t.Paths {
		m.print("- path: %s\n", oneLine(path))
	}
	for _, part := range []struct{ name, lang, text string }{
		{"Command", "sh", t.Command}, {"Arguments", "json", indented(t.Args)}, {"Output", "", t.Output},
		{"Error", "", t.Error}, {"Result", "json", indented(t.Result)},
	} {
		if part.text == "" || part.name == "Result" && t.Output != "" {
			continue // the output is in the result, too
		}
		m.print("\n%s:\n\n", part.name)
		m.fence(part.lang, part.text)
	}
	if lines := patches(it); len(lines) > 0 {
		m.print("\nChanges:\n\n")
		m.fence("diff", strings.Join(lines, "\n"))
	}
}

// Written writes nothing: the calls say what the session has written in files.
func (m *Markdown) Written(*api.WrittenFile) {}

// Told writes nothing: what the session was told of decisions is no part of what it says.
func (m *Markdown) Told(*api.Told) {}

// End ends the last turn.
func (m *Markdown) End() {
	t := m.open
	if t == nil {
		return
	}
	m.open = nil
	m.briefTodos()
	m.print("\n*%s*\n", TurnEnd(t))
	if m.Brief {
		m.briefEnd(t)
	}
	if e := t.Error; e != nil {
		m.print("\n*%s*\n", oneLine(e.Message))
	}
}

// fence writes text between fences that are longer than any in the text.
func (m *Markdown) fence(lang, text string) {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	m.print("%s%s\n%s\n%s\n", marks, lang, strings.TrimRight(text, "\n"), marks)
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
