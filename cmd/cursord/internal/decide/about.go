package decide

import (
	"fmt"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// about says what was decided in the hunks that were named by their ids: a hunk keeps its id when a later turn changes it, so it may be
// another text than the person has seen. before is what there was to review. A line fits into so many columns;
// 0 means that nobody knows how many there are.
func (d Decision) about(before []*sessions.Diff, named []string, skipped []api.Skipped, columns int) string {
	const shown = 20
	if columns == 0 {
		columns = 120
	}
	var lines []string
	for _, f := range before {
		for _, h := range f.Hunks {
			left := func(s api.Skipped) bool { return s.Hunk == h.ID }
			if !slices.Contains(named, h.ID) || slices.ContainsFunc(skipped, left) {
				continue
			}
			line := fmt.Sprintf("  %s  %s", term.Clean(h.ID), term.Clean(f.Path))
			if n := review.LineOf(f, h.ID); n > 0 {
				line += fmt.Sprintf(":%d", n)
			}
			lines = append(lines, term.Fit(line+d.changes(h), columns)+"\n")
		}
	}
	if n := len(lines); n > shown {
		lines = append(lines[:shown], fmt.Sprintf("  and %d more\n", n-shown))
	}
	return strings.Join(lines, "")
}

// changes counts the decided lines of a hunk and shows the first that it adds, or else removes.
func (d Decision) changes(h sessions.Hunk) string {
	var changed []string
	for _, line := range h.Lines {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			changed = append(changed, line)
		}
	}
	if lines, err := Lines(d.Lines); err == nil && lines.To <= len(changed) {
		changed = changed[lines.From:lines.To]
	}
	if len(changed) == 0 {
		return ""
	}
	first, added := changed[0], 0
	for _, line := range slices.Backward(changed) {
		if strings.HasPrefix(line, "+") {
			first = line
			added++
		}
	}
	return fmt.Sprintf("  +%d -%d  %s", added, len(changed)-added, term.Clean(strings.TrimRight(first, "\r\n")))
}
