package decide

import (
	"fmt"
	"strconv"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// Lines parses "A-B" or "A". Both count from 1, and B is included.
func Lines(s string) (*api.LineRange, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || from < 1 || to < from {
		return nil, misuse.Errorf("--lines is %q; it must be a line or a range such as 2-5, counted from 1", s)
	}
	return &api.LineRange{From: from - 1, To: to}, nil
}

// checkLines returns an error if a hunk has fewer changed lines than lines names.
func checkLines(text string, lines *api.LineRange, hunk string, diffs []*sessions.Diff) error {
	for _, d := range diffs {
		for _, h := range d.Hunks {
			if h.ID != hunk {
				continue
			}
			changed := 0
			for _, line := range h.Lines {
				if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
					changed++
				}
			}
			switch {
			case changed == 0:
				return fmt.Errorf("--lines %s: hunk %s has no lines: it can only be decided as a whole", term.Clean(text), term.Clean(hunk))
			case lines.To > changed:
				return fmt.Errorf("--lines %s: hunk %s has only %s, counted from 1 without its context", term.Clean(text), term.Clean(hunk), term.Count(changed, "changed line"))
			}
		}
	}
	return nil
}
