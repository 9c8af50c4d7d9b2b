package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func acceptCommand() *cobra.Command {
	return decision{accept: true, verb: "accept", done: "accepted"}.command(`Accept what the agent did, by the ids that "cursord diff" shows on a terminal. The
work tree stays as it is; what is in a copy of it is written to it.`)
}

func rejectCommand() *cobra.Command {
	return decision{verb: "reject", done: "rejected"}.command(`Reject what the agent did, by the ids that "cursord diff" shows on a terminal: those lines
become again what they were. "cursord undo" takes it back. What may be yours, since no call of the agent explains it,
is only rejected by its id: --all, --file and --turn leave it and say so.`)
}

// A decision is accept or reject, in words.
type decision struct {
	accept     bool
	verb, done string
}

func (d decision) command(long string) *cobra.Command {
	var p place
	var all, asJSON bool
	var file, turn, comment, lines string
	var only *api.LineRange
	c := &cobra.Command{
		Use:   d.verb + " [HUNK...]",
		Short: strings.ToUpper(d.verb[:1]) + d.verb[1:] + " changes",
		Long:  long,
		Example: fmt.Sprintf("  cursord %[1]s 12.1 12.3\n  cursord %[1]s --file src/main.go\n  cursord %[1]s --lines 2-3 12.1",
			d.verb),
		Args: func(c *cobra.Command, hunks []string) error {
			given := 0
			for _, is := range []bool{len(hunks) > 0, all, file != "", turn != ""} {
				if is {
					given++
				}
			}
			if given != 1 {
				return errors.New("give hunks, or --file, or --turn, or --all")
			}
			if lines == "" {
				return nil
			}
			if len(hunks) != 1 {
				return errors.New("--lines goes with a single hunk")
			}
			var err error
			only, err = lineRange(lines)
			return err
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, hunks []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			params := rpc.DecideParams{Workspace: root, All: all, TurnID: turn, Lines: only, Comment: comment}
			if len(hunks) > 0 {
				params.Hunks = &hunks
			}
			if file != "" {
				if params.Path, err = fileToDecide(c.Context(), client, root, file); err != nil {
					return err
				}
			}
			var out api.Decided
			if err := client.Call(c.Context(), "diff/"+d.verb, params, &out); err != nil {
				return err
			}
			if asJSON {
				if err := term.PrintJSON(c.OutOrStdout(), out); err != nil {
					return err
				}
			} else {
				d.tell(c.OutOrStdout(), c.ErrOrStderr(), out)
			}
			if len(hunks) > 0 && len(out.Skipped) > 0 {
				return statusError(exitFailed)
			}
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&all, "all", false, "all that is left to review")
	c.Flags().StringVar(&file, "file", "", "all of the file `PATH`")
	c.Flags().StringVar(&turn, "turn", "", "all of the turn `ID`")
	c.Flags().StringVar(&comment, "comment", "", "a remark, `TEXT`, for the agent's next prompt")
	c.Flags().StringVar(&lines, "lines", "", "of a single hunk only its changed lines `A-B`, counted from 1")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of diff/"+d.verb+" as JSON")
	return c
}

// tell says what was decided, and what was not.
func (d decision) tell(w, errOut io.Writer, out api.Decided) {
	if out.Applied == 0 && len(out.Skipped) == 0 {
		fmt.Fprintln(w, "nothing to review")
		return
	}
	files := map[string]bool{}
	left := 0
	for _, diff := range out.Diffs {
		if len(diff.Hunks) > 0 {
			files[diff.Path] = true
			left += len(diff.Hunks)
		}
	}
	fmt.Fprintf(w, "%s %s", d.done, term.Count(out.Applied, "hunk"))
	if left > 0 {
		fmt.Fprintf(w, "; %s left in %s", term.Count(left, "hunk"), term.Count(len(files), "file"))
	}
	fmt.Fprintln(w)
	for _, s := range out.Skipped {
		if s.Kind != api.KindMaybeYours {
			fmt.Fprintf(errOut, "not %s: %s of %s: %s\n", d.done, term.Clean(s.Hunk), term.Clean(s.Path), term.Clean(cmp.Or(s.Message, string(s.Kind))))
		}
	}
	if text := maybeYoursLeft(out); text != "" {
		fmt.Fprint(errOut, text)
	}
}

// maybeYoursLeft says which hunks a reject has left because they may be the user's, each with the command that rejects
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

// placeOf returns the path of a skipped hunk with its first changed line, if it has lines.
func placeOf(diffs []*sessions.Diff, s api.Skipped) string {
	for _, d := range diffs {
		if line := review.LineOf(d, s.Hunk); line > 0 {
			return fmt.Sprintf("%s:%d", s.Path, line)
		}
	}
	return s.Path
}

// fileToDecide returns the path of the one file under review that the user names.
func fileToDecide(ctx context.Context, client *rpc.Client, root, file string) (string, error) {
	diffs, err := review.Pending(ctx, client, root)
	if err != nil {
		return "", err
	}
	switch found := review.SelectDiffs(diffs, root, file); len(found) {
	case 0:
		return "", fmt.Errorf("nothing to review in %s", term.Clean(file))
	case 1:
		return review.DiffFile(root, found[0]), nil
	default:
		return "", fmt.Errorf("%s is a directory with %s to review; name one of them", term.Clean(file), term.Count(len(found), "file"))
	}
}

// lineRange reads "A-B" or "A", which count from 1 and include B.
func lineRange(s string) (*api.LineRange, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || from < 1 || to < from {
		return nil, fmt.Errorf("--lines is %q; it must be a number or two, as 2-5, that count from 1", s)
	}
	return &api.LineRange{From: from - 1, To: to}, nil
}
