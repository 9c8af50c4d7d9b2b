package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestBrief: in the transcript that editors follow a call of a tool is a line, and an edit has its patch, never the whole file.
func TestBrief(t *testing.T) {
	numbered := func(change string) string {
		var b strings.Builder
		for i := range 400 {
			if i == 200 && change != "" {
				b.WriteString(change)
				continue
			}
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	quoted := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
	status := 2
	for _, one := range []struct {
		name string
		tool sessions.Tool
		want string
	}{
		{"an edit", sessions.Tool{Name: "edit", Title: "Edit a.go",
			Result: json.RawMessage(`{"success":{"beforeFullFileContent":` + quoted(numbered("")) + `,"afterFullFileContent":` + quoted(numbered("new\nand new\n")) + `,"linesAdded":400,"linesRemoved":400}}`)},
			"\n✓ Edit a.go +2 −1\n\n```diff\n@@ -198,7 +198,8 @@\n line 197\n line 198\n line 199\n-line 200\n+new\n+and new\n line 201\n line 202\n line 203\n```\n"},
		{"a new file", sessions.Tool{Name: "edit", Title: "Edit b", Result: json.RawMessage(`{"success":{"afterFullFileContent":"x\n"}}`)},
			"\n✓ Edit b +1 −0\n\n```diff\n@@ -0,0 +1 @@\n+x\n```\n"},
		{"a file that goes", sessions.Tool{Name: "delete", Title: "Delete b", Result: json.RawMessage(`{"success":{"prevContent":"x\n"}}`)},
			"\n✓ Delete b +0 −1\n\n```diff\n@@ -1 +0,0 @@\n-x\n```\n"},
		{"a build that reports lines", sessions.Tool{Name: "edit", Title: "Edit b", Result: json.RawMessage(`{"success":{"diffString":"--- a/b\n+++ b/b\n- x\n+ y"}}`)},
			"\n✓ Edit b +1 −1\n\n```diff\n- x\n+ y\n```\n"},
		{"a build that reports nothing", sessions.Tool{Name: "edit", Title: "Edit b", Args: json.RawMessage(`{"content":"all of it"}`), Result: json.RawMessage(`[]`)},
			"\n✓ Edit b\n"},
		{"a read", sessions.Tool{Name: "read", Title: "Read b", Output: "all of it"}, "\n✓ Read b\n"},
		{"questions", sessions.Tool{Name: "question", Title: "Ask first?", Output: "Ask first?\n→ Yes\n\nWhich colour?\n→ (no answer)\n"},
			"\n✓ Ask first?\n\n- Ask first?\n- → Yes\n- Which colour?\n- → (no answer)\n"},
		{"a command", sessions.Tool{Name: "shell", Title: "make", Command: "make", Output: "fine"}, "\n✓ $ make\n"},
		{"a command that fails", sessions.Tool{Name: "shell", Title: "make", Command: "make", Output: numbered(""), ExitCode: &status},
			"\n✓ $ make (exit status 2)\n\n```\n" + strings.Join(strings.Split(numbered(""), "\n")[388:400], "\n") + "\n```\n"},
	} {
		t.Run(one.name, func(t *testing.T) {
			var b strings.Builder
			m := &Markdown{W: &b, Brief: true}
			m.Item(&sessions.Item{Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &one.tool})
			require.Equal(t, one.want, b.String())
		})
	}
	changed := &sessions.Item{Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{Name: "edit", Title: "Edit a.go"},
		Changes: []sessions.Change{{Path: "a.go", Kind: sessions.DiffModified, Added: 1, Removed: 1, Patch: "@@ -1 +1 @@\n-x\n+y\n"}}}
	for _, one := range []struct{ name, title, want string }{
		{"edit", "Edit a.go", "\n✓ Edit a.go +1 −1\n\n```diff\n@@ -1 +1 @@\n-x\n+y\n```\n"},
		{"shell", "make", "\n✓ make +1 −1\n\n```diff\n# a.go +1 −1\n@@ -1 +1 @@\n-x\n+y\n```\n"},
	} {
		var b strings.Builder
		changed.Tool = &sessions.Tool{Name: one.name, Title: one.title}
		(&Markdown{W: &b, Brief: true}).Item(changed)
		require.Equal(t, one.want, b.String())
	}
	require.Equal(t, []string{"a.go +1 −1"}, Changed(changed))
	changed.Changes = append(changed.Changes, sessions.Change{Path: "b", OldPath: "c", Kind: sessions.DiffRenamed}, sessions.Change{Path: "d", Kind: sessions.DiffBinary})
	changed.MoreChanges = 2
	require.Equal(t, []string{"a.go +1 −1", "c → b", "d (binary)", "… and 2 more changes"}, Changed(changed))

	var b strings.Builder
	m := &Markdown{W: &b, Brief: true}
	m.Turn(&sessions.Turn{Prompt: "p", Status: sessions.TurnRunning, Background: []string{"sleep 9"}})
	m.Item(&sessions.Item{Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{Name: "todo", Title: "Todos", Todos: []sessions.Todo{{Content: "old"}}}})
	m.Item(&sessions.Item{Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{Name: "todo", Title: "Todos", Todos: []sessions.Todo{
		{Content: "one", Status: "completed"}, {Content: "two", Status: "in_progress"}, {Content: "three", Status: "pending"},
	}}})
	m.Item(&sessions.Item{Kind: sessions.ItemThinking, Text: "hm\nlong"})
	m.End()
	require.Equal(t, "\n## Prompt\n\n> p\n\n✓ Todos: 0 of 1 done\n\n✓ Todos: 1 of 3 done, now: two\n\n*Thinking: hm …*\n\n- [x] one\n- [ ] two (in progress)\n- [ ] three\n\n*running*\n\n*waits for: sleep 9*\n", b.String())
}
