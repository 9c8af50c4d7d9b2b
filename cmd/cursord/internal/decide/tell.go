package decide

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/sessions"
)

// tell prints how many hunks were decided, and those that were skipped. left is what the workspace has to review now; nil if
// unknown.
func (d Decision) tell(w, errOut io.Writer, out api.Decided, left []*sessions.Diff) {
	if out.Applied == 0 && len(out.Skipped) == 0 {
		fmt.Fprintln(w, "nothing to review")
		return
	}
	fmt.Fprintf(w, "%s %s", d.done(), term.Count(out.Applied, "hunk"))
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
