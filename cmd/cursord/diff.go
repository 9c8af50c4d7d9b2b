package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/diff"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func diffCommand() *cobra.Command {
	var p place
	var l diff.Listing
	var of diff.Commits
	var commits, exitCode bool
	c := &cobra.Command{
		Use:   "diff [PATH... | --commits [COMMIT...]]",
		Short: "Show the pending changes",
		Long: `Show the pending changes: on a terminal with the id of each hunk, by which you can accept or reject it; in a pipe as a
patch, with which "git apply -R" restores the work tree. Changes that a patch cannot contain are named on stderr. A
PATH is a file, a directory or a pattern, as for "cursord accept". The exit status is 1 if a PATH does not exist, and,
with --exit-code, if there is something to review.

With --commits it shows instead what an agent has committed in its copy of the repository, or only some COMMITs of that: as
mails, with which "git am -3" makes the commits in yours. What they change is then no longer under review.`,
		Example: `  cursord diff src
  cursord diff --turn @1 --stat
  cursord diff | git apply -R
  cursord diff --commits --stat
  cursord diff --commits | git am -3`,
		Args: func(_ *cobra.Command, paths []string) error {
			l.Paths = paths
			forms := 0
			for _, form := range []bool{l.Stat, l.NameOnly, l.JSON} {
				if form {
					forms++
				}
			}
			if forms > 1 {
				return errors.New("--stat, --name-only and --json exclude each other")
			}
			switch {
			case l.NUL && !l.NameOnly:
				return errors.New("-z goes with --name-only")
			case of.Session != "" && !commits:
				return errors.New("--session goes with --commits; --turn chooses hunks")
			case commits && (l.Turn != "" || l.NameOnly):
				return errors.New("--commits goes with --session, --stat or --json")
			}
			return nil
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			do := l.Do
			if commits {
				of.Only, of.Stat, of.JSON, of.NoPager = l.Paths, l.Stat, l.JSON, l.NoPager
				do = of.Do
			}
			any, err := do(c.Context(), n, c.OutOrStdout(), c.ErrOrStderr())
			if err == nil && any && exitCode {
				return statusError(exitFailed)
			}
			return err
		}),
	}
	p.addFlag(c)
	c.Flags().StringVar(&l.Turn, "turn", "", "only the hunks of the turn `ID` (or its beginning, or @1 for the latest)")
	c.Flags().BoolVar(&commits, "commits", false, "what an agent has committed in its copy of the repository")
	c.Flags().StringVar(&of.Session, "session", "", "with --commits: that of the session `ID` (or its beginning, or @1 for the latest)")
	c.Flags().BoolVar(&l.Stat, "stat", false, "only the number of changed lines in each file")
	c.Flags().BoolVar(&l.NameOnly, "name-only", false, "only the paths of the files, relative to the workspace")
	c.Flags().BoolVarP(&l.NUL, "null", "z", false, "with --name-only: end each path with NUL, and quote none; else odd paths are quoted as git does")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with status 1 if there is something to review")
	c.Flags().BoolVar(&l.JSON, "json", false, "print the diffs as JSON")
	c.Flags().BoolVar(&l.NoPager, "no-pager", false, "do not use $PAGER (default \""+term.DefaultPager+"\") for long output")
	return c
}
