package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/review"
	"cursord/rpc"
)

func reviewCommand() *cobra.Command {
	var p place
	c := &cobra.Command{
		Use:   "review [PATH...]",
		Short: "Accept or reject the pending changes hunk by hunk",
		Long: `Go through the pending changes hunk by hunk, and accept or reject each. A decision takes effect at once and stays,
however the review ends. A PATH is a file, a directory or a pattern, as for "cursord accept". The exit status is 1 if a
PATH does not exist.

On a terminal each answer is one key; otherwise each is a line of stdin:

` + review.Help,
		Example: `  cursord review
  cursord review src`,
		Args: arguments.Takes(0, arguments.Many),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, paths []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			root, err := review.WorkspaceOf(c.Context(), client, n.Root, n.Owner, paths)
			if err != nil {
				return err
			}
			return review.Run(c.Context(), client, root, paths, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	p.addFlag(c)
	return c
}
