package decide

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
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
	} else if out.Applied == 0 {
		fmt.Fprintf(w, "%s nothing", d.done())
	} else {
		fmt.Fprintf(w, "%s %s", d.done(), term.Count(out.Applied, "hunk"))
	}
	fmt.Fprint(w, behind(left))
	if d.All && !d.Accept && out.Applied > 0 { // nobody was asked before
		fmt.Fprintf(w, "; cursord undo brings %s back", map[bool]string{true: "it", false: "them"}[out.Applied == 1])
	}
	fmt.Fprintln(w)
	for _, s := range out.Skipped {
		if s.Kind != api.KindMaybeYours {
			term.PrintFolded(errOut, fmt.Sprintf("not %s: %s of %s: %s\n", d.done(), term.Clean(s.Hunk), term.Clean(s.Path), term.Clean(cmp.Or(s.Message, string(s.Kind)))))
		}
	}
	if text := maybeYoursLeft(out); text != "" {
		term.PrintFolded(errOut, text)
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

// behind says how much a workspace has left to review, as the end of a sentence; "" for nil, which is unknown.
func behind(left []*sessions.Diff) string {
	if left == nil {
		return ""
	}
	return "; " + review.Left(left)
}

// sharedHunks lists the decided hunks of a turn that hold lines of other turns, too, because a hunk is decided as a whole; ""
// if there are none. before is what there was to review.
func (d Decision) sharedHunks(before []*sessions.Diff, turn string, skipped []api.Skipped) string {
	const shown = 20
	var shared []string
	for _, f := range before {
		for _, h := range f.Hunks {
			other := func(s sessions.Source) bool { return s.TurnID != "" && s.TurnID != turn }
			own := func(s sessions.Source) bool { return s.TurnID == turn }
			left := func(s api.Skipped) bool { return s.Path == f.Path && s.Hunk == h.ID }
			if slices.ContainsFunc(h.Sources, own) && slices.ContainsFunc(h.Sources, other) && !slices.ContainsFunc(skipped, left) {
				shared = append(shared, fmt.Sprintf("%s of %s", term.Clean(h.ID), term.Clean(f.Path)))
			}
		}
	}
	n := len(shared)
	if n == 0 {
		return ""
	}
	if n > shown {
		shared = append(shared[:shown], fmt.Sprintf("and %d more", n-shown))
	}
	return fmt.Sprintf("%s other turns' lines with this turn's, because a hunk is decided as a whole (\"cursord undo\" takes that back): %s\n",
		d.done(), strings.Join(shared, ", "))
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
		return "left 1 hunk that may be yours, since it is not surely the agent's: " + left[0] + "\n"
	case n > shown:
		left = append(left[:shown], fmt.Sprintf("and %d more, which \"cursord diff\" shows", n-shown))
		fallthrough
	default:
		return fmt.Sprintf("left %d hunks that may be yours, since they are not surely the agent's:\n  %s\n",
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

// Step makes an undo or redo, the verb, in a workspace, and prints to w which decision that was about.
func Step(ctx context.Context, client *rpc.Client, verb, root string, asJSON bool, w, errOut io.Writer) error {
	var out rpc.UndoResult
	ended := term.Waits(errOut, map[string]string{"undo": "undoing", "redo": "redoing"}[verb])
	err := client.Call(ctx, "diff/"+verb, rpc.WorkspaceParams{Workspace: root}, &out)
	if ended(); err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(w, out)
	}
	where := " in " + term.Count(len(out.Diffs), "file")
	switch len(out.Diffs) {
	case 0: // the decision was about files that are not shown now
		where = ""
	case 1:
		where = " in " + term.Clean(out.Diffs[0].Path)
	}
	left, _ := review.Pending(ctx, client, root) // without the list, only the count of what is left is missing
	fmt.Fprintf(w, "%s: %s%s%s\n", map[string]string{"undo": "undone", "redo": "redone"}[verb], step(out.Step), where, behind(left))
	return nil
}

// step says which decision an undo or redo was about.
func step(s *api.Step) string {
	switch {
	case s == nil:
		return "a decision" // an older daemon does not say which
	case s.Kind == api.StepCommit:
		return fmt.Sprintf("the accept of %s by a commit", term.Count(s.Hunks, "hunk"))
	}
	return fmt.Sprintf("the %s of %s", term.Clean(string(s.Kind)), term.Count(s.Hunks, "hunk"))
}
