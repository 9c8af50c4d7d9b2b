package view

import (
	"fmt"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// Counts says how many lines a call has changed; "" if it has changed none.
func Counts(it *sessions.Item) string {
	added, removed := 0, 0
	for i := range it.Changes {
		added, removed = added+it.Changes[i].Added, removed+it.Changes[i].Removed
	}
	return counts(added, removed)
}

func counts(added, removed int) string {
	if added+removed == 0 {
		return ""
	}
	return fmt.Sprintf(" +%d −%d", added, removed)
}

// Changed lists the files that a call has changed, if its title does not say that.
func Changed(it *sessions.Item) (lines []string) {
	if len(it.Changes) == 1 && it.Tool != nil && editsFile(it.Tool) {
		return nil
	}
	for i := range it.Changes {
		lines = append(lines, changeLine(&it.Changes[i]))
	}
	if it.MoreChanges > 0 {
		lines = append(lines, "… and "+term.Count(it.MoreChanges, "more change"))
	}
	return lines
}

func changeLine(c *sessions.Change) string {
	line := term.Clean(c.Path)
	if c.OldPath != "" {
		line = term.Clean(c.OldPath) + " → " + line
	}
	if c.Kind != sessions.DiffModified && c.Kind != sessions.DiffRenamed {
		line += " (" + term.Clean(string(c.Kind)) + ")"
	}
	return line + counts(c.Added, c.Removed)
}

// patches returns the patches of a call's changes as lines. If there are several, each has the name of its file above it.
func patches(it *sessions.Item) (lines []string) {
	names := Changed(it) != nil
	for i := range it.Changes {
		c := &it.Changes[i]
		if names {
			lines = append(lines, "# "+changeLine(c))
		}
		if c.Patch != "" {
			lines = append(lines, strings.Split(strings.TrimRight(c.Patch, "\n"), "\n")...)
		}
		if c.Cut {
			lines = append(lines, "… not all of it is shown")
		}
	}
	return lines
}
