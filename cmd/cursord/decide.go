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
	return decisionCommand("accept", `Accept what the agent did, by the ids that "cursord diff" shows on a terminal, or by files. The
work tree stays as it is; what is in a copy of it is written to it.`)
}

func rejectCommand() *cobra.Command {
	return decisionCommand("reject", `Reject what the agent did, by the ids that "cursord diff" shows on a terminal, or by files: those lines
become again what they were. "cursord undo" takes it back. What may be yours, since no call of the agent explains it,
is only rejected by its id: --all, --turn and files leave it and say so.`)
}

func decisionCommand(verb, long string) *cobra.Command {
	var p place
	d := decide.Decision{Accept: verb == "accept"}
	c := &cobra.Command{
		Use:   verb + " [HUNK|FILE...]",
		Short: strings.ToUpper(verb[:1]) + verb[1:] + " changes",
		Long: long + `

A HUNK may be named by the beginning of its id, if no other that is pending begins so. A FILE is a path, a folder or a
pattern: * and ? stop at a slash, ** does not, and a pattern without a slash fits names in all folders. Quote patterns, or the
shell takes them. All that one command decides, one undo takes back.`,
		Example: fmt.Sprintf("  cursord %[1]s 12.1 12.3\n  cursord %[1]s src/main.go\n  cursord %[1]s 'src/**/*.go'\n  cursord %[1]s --lines 2-3 12.1",
			verb),
		Args: func(_ *cobra.Command, names []string) error {
			d.Names = names
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
	c.Flags().BoolVar(&d.All, "all", false, "all that is left to review")
	c.Flags().StringArrayVar(&d.Files, "file", nil, "all of the files that `PATH` names, which may be a pattern; may be given more than once")
	c.Flags().StringVar(&d.Turn, "turn", "", "all of the turn `ID`, also named by its beginning, or @1 for the latest")
	c.Flags().StringVar(&d.Comment, "comment", "", "a remark, `TEXT`, for the agent's next prompt")
	c.Flags().StringVar(&d.Lines, "lines", "", "of a single hunk only its changed lines `A-B`, counted from 1")
	c.Flags().BoolVar(&d.JSON, "json", false, "print the answer of diff/"+verb+" as JSON")
	return c
}
