package decide

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// tell prints how many hunks were decided, or how many lines of a hunk, and those that were skipped. left is what the
// workspace has to review now; nil if unknown. before is the same before a decision of lines.
func (d Decision) tell(w, errOut io.Writer, out api.Decided, before, left []*sessions.Diff) {
	if out.Applied == 0 && len(out.Skipped) == 0 {
		fmt.Fprintln(w, "nothing to review")
		return
	}
	if lines, err := Lines(d.Lines); err == nil && out.Applied > 0 {
		fmt.Fprintf(w, "%s %s of hunk %s", d.done(), term.Count(lines.To-lines.From, "line"), term.Clean(d.Names[0]))
		if rest := newHunks(before, out.Diffs); len(rest) > 0 {
			fmt.Fprintf(w, "; the rest is %s", term.Clean(strings.Join(rest, " ")))
		} else if has(out.Diffs, d.Names[0]) {
			fmt.Fprint(w, "; the rest keeps its id")
		}
	} else {
		fmt.Fprintf(w, "%s %s", d.done(), term.Count(out.Applied, "hunk"))
	}
	if hunks, files := Count(left); hunks > 0 {
		fmt.Fprintf(w, "; %s left in %s", term.Count(hunks, "hunk"), term.Count(files, "file"))
	}
	fmt.Fprintln(w)
	for _, s := range out.Skipped {
		if s.Kind != api.KindMaybeYours {
			fmt.Fprintf(errOut, "not %s: %s of %s: %s\n", d.done(), term.Clean(s.Hunk), term.Clean(s.Path), term.Clean(cmp.Or(s.Message, string(s.Kind))))
		}
	}
	if text := maybeYoursLeft(out); text != "" {
		fmt.Fprint(errOut, text)
	}
}

// newHunks returns the ids of the hunks that are in after but not in before.
func newHunks(before, after []*sessions.Diff) (ids []string) {
	known := map[string]bool{}
	for _, d := range before {
		for _, h := range d.Hunks {
			known[h.ID] = true
		}
	}
	for _, d := range after {
		for _, h := range d.Hunks {
			if !known[h.ID] {
				ids = append(ids, h.ID)
			}
		}
	}
	return ids
}

// has reports whether a hunk is in diffs.
func has(diffs []*sessions.Diff, id string) bool {
	return slices.ContainsFunc(diffs, func(d *sessions.Diff) bool {
		return slices.ContainsFunc(d.Hunks, func(h sessions.Hunk) bool { return h.ID == id })
	})
}

// Count returns the number of hunks in diffs, and of files that have hunks.
func Count(diffs []*sessions.Diff) (hunks, files int) {
	for _, d := range diffs {
		if hunks += len(d.Hunks); len(d.Hunks) > 0 {
			files++
		}
	}
	return hunks, files
}

// maybeYoursLeft lists the hunks that a reject has left because they may be the user's, each with the command that rejects
// it; "" if there are none.
func maybeYoursLeft(out api.Decided) string {
	const shown = 20
	var left []string
	for _, s := range out.Skipped {
		if s.Kind == api.KindMaybeYours {
			left = append(left, fmt.Sprintf("%s (\"cursord reject %s\" rejects it)", term.Clean(placeOf(out.Diffs, s)), term.Clean(s.Hunk)))
		}
	}
	switch n := len(left); {
	case n == 0:
		return ""
	case n == 1:
		return "left 1 hunk that may be yours, since no call of the agent explains it: " + left[0] + "\n"
	case n > shown:
		left = append(left[:shown], fmt.Sprintf("and %d more, which \"cursord diff\" shows", n-shown))
		fallthrough
	default:
		return fmt.Sprintf("left %d hunks that may be yours, since no call of the agent explains them:\n  %s\n",
			n, strings.Join(left, "\n  "))
	}
}

// placeOf returns the path of a skipped hunk, with its first changed line if it has lines.
func placeOf(diffs []*sessions.Diff, s api.Skipped) string {
	for _, d := range diffs {
		if line := review.LineOf(d, s.Hunk); line > 0 {
			return fmt.Sprintf("%s:%d", s.Path, line)
		}
	}
	return s.Path
}

// Step says which decision an undo or redo was about.
func Step(s *api.Step) string {
	switch {
	case s == nil:
		return "a decision" // an older daemon does not say which
	case s.Kind == api.StepCommit:
		return fmt.Sprintf("the accept of %s by a commit", term.Count(s.Hunks, "hunk"))
	}
	return fmt.Sprintf("the %s of %s", term.Clean(string(s.Kind)), term.Count(s.Hunks, "hunk"))
}
