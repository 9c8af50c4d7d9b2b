package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

func diffCommand() *cobra.Command {
	var p place
	var asJSON, noPager bool
	c := &cobra.Command{
		Use:   "diff [PATH...]",
		Short: "Show what is left to review",
		Long: `Show what is left to review: on a terminal with the id of each hunk, to be accepted or rejected by it; in a pipe as
a patch, of which "git apply -R" makes the work tree what it was before; what a patch cannot have is named on the
standard error. A PATH is a file or a directory.`,
		Example: `  cursord diff src
  cursord diff | git apply -R`,
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, paths []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			diffs, err := review.Pending(c.Context(), client, root)
			if err != nil {
				return err
			}
			if len(paths) > 0 {
				diffs = review.SelectAll(c.ErrOrStderr(), diffs, root, paths)
			}
			out := c.OutOrStdout()
			switch {
			case asJSON:
				return term.PrintJSON(out, rpc.DiffList{Diffs: diffs})
			case len(diffs) == 0:
				if len(paths) == 0 {
					fmt.Fprintf(c.ErrOrStderr(), "nothing to review in %s\n", term.Clean(root))
				}
				return nil
			case term.IsTerminal(out):
				var text strings.Builder
				view.PrintDiffs(&text, term.PaletteOf(out), diffs)
				if noPager {
					_, err := io.WriteString(out, text.String())
					return err
				}
				return term.Page(out, text.String())
			}
			printLeftOut(c.ErrOrStderr(), diffs)
			if len(paths) == 0 {
				return printPatch(c.Context(), client, out, rpc.DiffParams{Workspace: root})
			}
			for _, d := range diffs {
				err := printPatch(c.Context(), client, out, rpc.DiffParams{Workspace: root, Path: review.DiffFile(root, d)})
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the diffs as JSON")
	c.Flags().BoolVar(&noPager, "no-pager", false, "do not use $PAGER (default \""+term.DefaultPager+"\") for what is longer than the screen")
	return c
}

// printLeftOut says, one line for each file, what a patch cannot have of diffs, and what can be done about it.
func printLeftOut(w io.Writer, diffs []*sessions.Diff) {
	for _, d := range diffs {
		name := term.Clean(d.Path)
		switch {
		case filepath.IsAbs(d.Path):
			fmt.Fprintf(w, "%s (%s) is not in the patch: it is outside of the workspace and can only be looked at, with: cursord diff --json\n", name, d.Kind)
		case d.Baseline == "unknown":
			fmt.Fprintf(w, "%s (%s) is not, or not wholly, in the patch: what it was is not known, so it cannot be rejected; accept it with: cursord accept --file %s\n",
				name, d.Kind, term.ShellWord(name))
		}
	}
}

func printPatch(ctx context.Context, client *rpc.Client, w io.Writer, params rpc.DiffParams) error {
	unified, err := client.DiffUnified(ctx, params)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, unified.Patch)
	return err
}
