package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/remove"
	"cursord/rpc"
)

func deleteCommand() *cobra.Command {
	var p place
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "delete SESSION...",
		Short: "Delete sessions for good",
		Long: `Delete sessions for good, with their transcripts; an isolated session also loses its copy and the changes in it.
Pending changes in the work tree stay. A session with a running or queued turn is refused. On a terminal you are asked
first. Elsewhere a session whose copy has something to review is only deleted with -y.

` + namesHelp,
		Args: arguments.Takes(1, arguments.Many),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			return remove.Sessions(c.Context(), n, args, yes, asJSON, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print the ids of the deleted sessions as JSON")
	return c
}
