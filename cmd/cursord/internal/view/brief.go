package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/diffs"
	"cursord/sessions"
)

// Limits of a brief transcript, for an edit and for the output of a failed command.
const (
	patchLines  = 100
	outputLines = 12
)

// briefTool writes a tool call as one line. Below it come an edit's patch, or the end of a failed command's output.
func (m *Markdown) briefTool(it *sessions.Item) {
	t := it.Tool
	if t == nil {
		return
	}
	if t.Todos != nil {
		m.todos = t.Todos
	}
	line := ToolLine(term.Palette(false), it)
	edit := editOf(t)
	patch := edit.patch()
	failed := t.ExitCode != nil && *t.ExitCode != 0
	if failed && it.Status == sessions.ItemCompleted {
		line += fmt.Sprintf(" (exit status %d)", *t.ExitCode)
	}
	if added, removed, known := edit.counts(patch); len(it.Changes) > 0 {
		patch, line = patches(it), line+Counts(it)
	} else if known && it.Status == sessions.ItemCompleted {
		line += fmt.Sprintf(" +%d −%d", added, removed)
	}
	m.print("\n%s\n", oneLine(line))
	for i, line := range Reply(term.Palette(false), it) {
		if i == 0 {
			m.print("\n")
		}
		m.print("- %s\n", oneLine(line))
	}
	if len(patch) > 0 {
		m.print("\n")
		m.fence("diff", abridged(patch, patchLines))
	}
	if t.Name == "shell" && failed && t.Output != "" {
		lines := strings.Split(strings.TrimRight(t.Output, "\n"), "\n")
		m.print("\n")
		m.fence("", strings.Join(lines[max(0, len(lines)-outputLines):], "\n"))
	}
}

// abridged joins the first lines.
func abridged(lines []string, most int) string {
	if n := len(lines) - most; n > 0 {
		lines = append(slices.Clone(lines[:most]), fmt.Sprintf("… and %s more", term.Count(n, "line")))
	}
	return strings.Join(lines, "\n")
}

// briefThinking writes a thought as one line.
func (m *Markdown) briefThinking(text string) {
	if first, more, _ := strings.Cut(strings.TrimSpace(text), "\n"); first != "" {
		if first = oneLine(first); more != "" {
			first += " …"
		}
		m.print("\n*Thinking: %s*\n", first)
	}
}

// briefEnd writes when a running turn began, and the background commands that it waits for.
func (m *Markdown) briefEnd(t *sessions.Turn) {
	if t.Status.Final() {
		return
	}
	if t.StartedAt != nil {
		m.print("\n*since %s*\n", t.StartedAt.Local().Format(time.TimeOnly))
	}
	for _, one := range t.Background {
		m.print("\n*waits for: %s*\n", oneLine(one))
	}
}

// briefTodos writes the agent's latest to-do list.
func (m *Markdown) briefTodos() {
	if len(m.todos) == 0 {
		return
	}
	m.print("\n")
	for _, one := range m.todos {
		mark := " "
		if one.Status == "completed" {
			mark = "x"
		}
		note := ""
		if one.Status == "in_progress" || one.Status == "cancelled" {
			note = " (" + strings.ReplaceAll(one.Status, "_", " ") + ")"
		}
		m.print("- [%s] %s%s\n", mark, oneLine(one.Content), note)
	}
	m.todos = nil
}

// An edit is the report of a tool call about a file that it has changed, for calls of which the daemon has stored no changes. Builds differ
// in the members that they fill.
type edit struct {
	Path    string
	Before  *string `json:"beforeFullFileContent"`
	Prev    *string `json:"prevContent"` // the text of a deleted file
	After   *string `json:"afterFullFileContent"`
	Diff    string  `json:"diffString"`
	Added   *int    `json:"linesAdded"`
	Removed *int    `json:"linesRemoved"`
}

// editsFile reports whether a call is one that edits the file that its title names.
func editsFile(t *sessions.Tool) bool {
	return slices.Contains([]string{"edit", "write", "delete"}, t.Name)
}

// editOf returns the edit that a call reports, or nil.
func editOf(t *sessions.Tool) *edit {
	if !editsFile(t) {
		return nil
	}
	var result struct {
		Success *edit
		edit
	}
	if json.Unmarshal(t.Result, &result) != nil {
		return nil
	}
	if result.Success != nil {
		return result.Success
	}
	return &result.edit
}

// patch returns the hunks of an edit as lines of a unified diff, or nil if the call reports none.
func (e *edit) patch() []string {
	if e == nil {
		return nil
	}
	before := e.Before
	if before == nil {
		before = e.Prev
	}
	if before == nil && e.After == nil {
		return e.reported()
	}
	side := func(text *string) diffs.Content {
		if text == nil {
			return diffs.Content{}
		}
		return diffs.Content{Exists: true, Data: []byte(*text)}
	}
	review := diffs.New(side(before))
	review.Observe(side(e.After), &diffs.Source{})
	kind := diffs.Modified
	switch {
	case before == nil:
		kind = diffs.Created
	case e.After == nil:
		kind = diffs.Deleted
	}
	patch := string(diffs.Unified([]diffs.FilePatch{{Path: "file", Kind: kind, Hunks: review.Hunks()}}))
	at := strings.Index(patch, "\n@@ ")
	if at < 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(patch[at+1:], "\n"), "\n")
}

// reported returns the changed lines from the call's arguments.
func (e *edit) reported() (lines []string) {
	for line := range strings.Lines(e.Diff) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---") || line == "" || !strings.ContainsAny(line[:1], "+-@") {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// counts counts the lines of a patch. Without a patch it returns the counts that the call reports.
func (e *edit) counts(patch []string) (added, removed int, known bool) {
	if e == nil {
		return 0, 0, false
	}
	for _, line := range patch {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	if len(patch) > 0 {
		return added, removed, true
	}
	if e.Added == nil || e.Removed == nil {
		return 0, 0, false
	}
	return *e.Added, *e.Removed, true
}
