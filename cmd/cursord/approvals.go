package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/rpc"
)

func approvalsCommand() *cobra.Command {
	var p place
	var l approve.Listing
	c := &cobra.Command{
		Use:   "approvals",
		Short: "List what agents ask you, and the rules that answer",
		Long: `List what the agents of the workspace ask: permission for a command, a question, a plan. An agent waits for the
answer. After the time of the setting approval_timeout, a request that nobody has answered is denied.

A turn of "cursord run --approvals deny" asks nobody: all that its agent would ask is denied, also where a rule would allow it.

--rules lists the rules by which agents need not ask for a command: answers "Always in this folder", which --remove takes back, and the
[[approve]] tables of the configuration.`,
		Args: func(c *cobra.Command, args []string) error {
			if err := l.Check(c.Flags().Changed("remove")); err != nil {
				return err
			}
			return arguments.Takes(0, 0)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			return l.Do(c.Context(), client, root, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&l.All, "all", false, "of all workspaces")
	c.Flags().BoolVar(&l.Rules, "rules", false, "list the rules that answer for you")
	c.Flags().Uint64Var(&l.Remove, "remove", 0, "with --rules: remove the rule `N` first")
	c.Flags().BoolVar(&l.JSON, "json", false, "print the answer of the daemon as JSON")
	return c
}
