package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/attempts"
	"cursord/rpc"
)

func attemptsCommand() *cobra.Command {
	var p place
	var a attempts.Command
	c := &cobra.Command{
		Use:   "attempts [GROUP]",
		Short: "Show attempts at a prompt beside each other, check them, and drop them",
		Long: `Show the attempts of "cursord run --attempts" beside each other: how many files and lines each has to review, how its check
ended, and the last line of what the agent said. GROUP is the beginning of a group's name; without it, the attempts at the latest prompt are shown.

Each attempt has a tree of its own. "cursord accept --turn TURN" takes all changes of an attempt into the work tree; "cursord review" and
"cursord accept HUNK" take hunks of several. --drop deletes the attempts, but for those that --keep names.

With attempt_check = "make test" in the configuration, that command is run in each tree when its agent has completed, and by --check again. It
has your rights, as an agent's commands have.`,
		Example: `  cursord attempts
  cursord attempts --check
  cursord attempts --drop --keep 2`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Group = args[0]
			}
			if err := arguments.Takes(0, 1)(c, args); err != nil {
				return err
			}
			return a.CheckFlags()
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) (err error) {
			a.In, a.Out, a.ErrOut = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
			if a.Root, err = p.find(c.Context(), client); err != nil {
				return err
			}
			return a.Do(c.Context(), client)
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&a.All, "all", false, "list the attempts at all prompts of the workspace")
	c.Flags().BoolVar(&a.Check, "check", false, "run the command attempt_check again in each of the trees, and wait for it")
	c.Flags().BoolVar(&a.Drop, "drop", false, "delete the attempts, with their trees and what is to review there; those that run are cancelled")
	c.Flags().IntSliceVar(&a.Keep, "keep", nil, "with --drop: keep the attempt `N`; repeatable")
	c.Flags().BoolVarP(&a.Yes, "yes", "y", false, "with --drop: do not ask")
	c.Flags().BoolVar(&a.JSON, "json", false, "print the answer of attempt/list, or of attempt/drop")
	return c
}
