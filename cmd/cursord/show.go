package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/rpc"
	"cursord/sessions"
)

func showCommand() *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [SESSION]",
		Short: "Show a whole session (default: the latest)",
		Long: `Show a whole session from its beginning: prompts, what the agent said and did, and what each turn used. The default is
the latest session of the workspace.

` + namesHelp,
		Example: `  cursord show
  cursord show @2
  cursord show 01J9ZK4T6Q`,
		Args: arguments.Takes(0, 1),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			session, err := p.session(c.Context(), client, append(args, "@1")[0])
			if err != nil {
				return err
			}
			if err := listing.Show(c.Context(), client, c.OutOrStdout(), session, asJSON); err != nil || asJSON {
				return err
			}
			return approve.PrintPending(c.Context(), client, c.OutOrStdout(), func(a *sessions.Approval) bool { return a.SessionID == session })
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the session, its turns and items as JSON")
	return c
}
