package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/decide"
	"cursord/rpc"
)

func acceptCommand() *cobra.Command {
	return decisionCommand("accept", `Accept changes of the agent, by the ids that "cursord diff" shows on a terminal, or by files. The work tree stays as
it is; changes in an isolated session's copy are written to it.

Where you have changed the same lines as an agent in a copy, reject keeps yours, accept keeps both, and accept --replace puts the agent's in
the place of yours. cursord undo brings yours back.`)
}

func decisionCommand(verb, long string) *cobra.Command {
	var p place
	var turns []string
	d := decide.Decision{Accept: verb == "accept"}
	c := &cobra.Command{
		Use:   verb + " [HUNK|FILE...]",
		Short: strings.ToUpper(verb[:1]) + verb[1:] + " changes",
		Long: long + `

A HUNK is a whole id such as 12.3, which never means 12.31; or the first number with its dot, 12., if only one pending
hunk has that number. A hunk that a later turn changes keeps its id: the command decides the hunk as it is now, and prints its place and first line. With
--rev the command refuses instead, if the file has changed. A FILE is a path, a folder or a pattern: *
and ? stop at a slash, ** does not, and a pattern without a slash matches names in all folders. Quote patterns, so
that the shell leaves them. One undo reverts one command.

The exit status is 1 if a hunk that you named was left, or all hunks of the files that you named.`,
		Example: fmt.Sprintf("  cursord %[1]s 12.1 12.3\n  cursord %[1]s src/main.go\n  cursord %[1]s 'src/**/*.go'\n  cursord %[1]s --lines 2-3 12.1",
			verb),
		Args: func(c *cobra.Command, names []string) error {
			if d.Names = names; len(turns) > 1 {
				return errors.New("--turn is given twice: decide one turn after the other")
			}
			d.Turn = strings.Join(turns, "")
			if c.Flags().Changed("rev") && d.Rev == 0 {
				return errors.New("--rev is 0; revisions count from 1")
			}
			return d.Check()
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			if err = d.Do(c.Context(), n, c.OutOrStdout(), c.ErrOrStderr()); errors.Is(err, decide.ErrPartly) {
				return statusError(exitFailed)
			}
			return err
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&d.All, "all", false, "all pending changes")
	c.Flags().StringArrayVar(&d.Files, "file", nil, "all changes of the file, folder or pattern `PATH`; repeatable")
	c.Flags().StringArrayVar(&turns, "turn", nil, "all hunks with changes of the turn `ID` (or its beginning, or @1 for the latest)")
	c.Flags().StringVar(&d.Comment, "comment", "", "add the remark `TEXT` to the agent's next prompt")
	c.Flags().StringVar(&d.Lines, "lines", "", "only the changed lines `A-B` of a single hunk, counted from 1")
	c.Flags().Uint64Var(&d.Rev, "rev", 0, "only if the file has not changed since its revision `N` (\"rev\" in \"cursord diff --json\")")
	c.Flags().BoolVar(&d.JSON, "json", false, "print the answer of diff/"+verb+" as JSON")
	if d.Accept {
		c.Flags().BoolVar(&d.Replace, "replace", false, "where you have changed the lines of a hunk, too: put the agent's in the place of yours")
	}
	return c
}
