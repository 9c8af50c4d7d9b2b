package view

import (
	"fmt"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// ToolLine describes a tool call and its end in one line.
func ToolLine(p term.Palette, item *sessions.Item) string {
	title := toolTitle(item.Tool)
	switch item.Status {
	case sessions.ItemCompleted:
		return p.Green("✓") + " " + title
	case sessions.ItemRunning:
		return p.Dim("… " + title)
	}
	why := string(item.Status)
	if t := item.Tool; item.Status != sessions.ItemCancelled {
		if t.ExitCode != nil && *t.ExitCode != 0 {
			why += fmt.Sprintf(", exit status %d", *t.ExitCode)
		} else if t.Error != "" {
			why += ": " + term.Clean(term.Abridge(t.Error, 200))
		}
	}
	return p.Red("✗") + " " + title + " " + p.Dim("("+why+")")
}

// Reply returns the lines below a call that was put to a person: the questions with their answers, or what was decided about a plan.
// A question that is the call's title is not repeated.
func Reply(p term.Palette, item *sessions.Item) (lines []string) {
	t := item.Tool
	if t == nil || item.Status == sessions.ItemRunning {
		return nil
	}
	switch {
	case item.Kind == sessions.ItemPlan && item.Status == sessions.ItemCompleted && t.Output != "":
		lines = append(lines, p.Green("✓")+" "+term.Clean(t.Output))
	case item.Kind == sessions.ItemPlan && item.Status != sessions.ItemCompleted && t.Error != "":
		lines = append(lines, p.Red("✗")+" "+term.Clean(t.Error))
	case item.Kind == sessions.ItemTool && t.Name == "question":
		for line := range strings.Lines(t.Output) {
			line = strings.TrimSpace(line)
			if line != "" && (len(lines) > 0 || term.Clean(line) != strings.TrimPrefix(term.Clean(t.Title), "Ask ")) {
				lines = append(lines, "  "+term.Clean(line))
			}
		}
	}
	return lines
}

func toolTitle(t *sessions.Tool) string {
	title := term.Clean(t.Title)
	switch {
	case title == "":
		return term.Clean(t.RawName)
	case t.Name == "shell" && t.Command != "":
		return "$ " + title
	case t.Name == "todo" && t.Todos != nil:
		return title + ": " + progress(t.Todos)
	}
	return title
}

// progress says in a few words how far a list of todos is.
func progress(todos []sessions.Todo) string {
	const most = 80 // bytes of a todo
	done, now := 0, ""
	for _, todo := range todos {
		switch todo.Status {
		case "completed", "cancelled":
			done++
		case "in_progress":
			if now == "" {
				now = ", now: " + term.Clean(term.Abridge(todo.Content, most))
			}
		}
	}
	if len(todos) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d done", done, len(todos)) + now
}

// TurnEnd describes the end of a turn in one line. A turn that was interrupted may have run for longer than anybody has seen.
func TurnEnd(t *sessions.Turn) string {
	end := string(t.Status)
	if t.StartedAt != nil && t.EndedAt != nil {
		took := t.EndedAt.Sub(t.StartedAt.Time).Round(100 * time.Millisecond)
		switch {
		case t.Status != sessions.TurnInterrupted:
			end += " in " + took.String()
		case took > 0:
			end += " after at least " + took.String()
		}
	}
	if u := t.Usage; u != nil {
		end += " · " + UsedTokens(u.InputTokens, u.OutputTokens)
	}
	return end
}

// Interruption says why a turn was interrupted, and how to go on.
func Interruption(t *sessions.Turn) (message, hint string) {
	const most = 60 // bytes of a prompt that is worth repeating
	if t.StartedAt != nil {
		return "the daemon stopped while the turn ran", fmt.Sprintf("go on with: cursord run --session %s …", term.Clean(t.SessionID))
	}
	prompt := "…"
	if t.Prompt != "" && len(t.Prompt) <= most && term.Clean(t.Prompt) == t.Prompt {
		prompt = term.ShellWord(t.Prompt)
	}
	return "the daemon stopped before the turn began",
		fmt.Sprintf("send it again with: cursord run --session %s %s", term.Clean(t.SessionID), prompt)
}

// UsedTokens formats the tokens that an agent has read and written.
func UsedTokens(in, out int64) string {
	return fmt.Sprintf("%s in, %d out", term.Count(int(in), "token"), out)
}
