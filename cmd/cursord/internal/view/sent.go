package view

import (
	"cmp"
	"fmt"
	"path/filepath"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// Sent returns a line for each file and text that went with a prompt, as Turn.Asked has one for each image. Paths in the workspace are
// relative to it, and lines count from 1.
func Sent(t *sessions.Turn) (lines []string) {
	for i := range t.Context {
		c := &t.Context[i]
		name := c.Path
		if rel, err := filepath.Rel(t.Workspace, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		name = term.Clean(cmp.Or(name, c.Title))
		if r := c.Range; r != nil {
			first, last := r.Start.Line+1, r.End.Line
			if r.End.Character > 0 {
				last++
			}
			if name += fmt.Sprintf(":%d", first); last > first {
				name += fmt.Sprintf("-%d", last)
			}
		}
		if name != "" {
			name = ": " + name
		}
		lines = append(lines, "["+term.Clean(c.Kind)+name+"]")
	}
	return lines
}
