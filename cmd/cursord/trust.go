package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func trustCommand() *cobra.Command {
	return trusting(true, &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let agents run in a workspace",
		Long: `Let agents run in a workspace: they can run commands and change files there. This applies to that directory alone, not
to workspaces below it.

It also lets cursord use the filters, and the parts outside of the workspace, that the configuration of its git
repositories names now. An agent can change that configuration, so later additions are not used until you trust the
workspace again.`,
	})
}

func untrustCommand() *cobra.Command {
	return trusting(false, &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "Stop letting agents run in a workspace",
	})
}

func trusting(trusted bool, c *cobra.Command) *cobra.Command {
	var asJSON bool
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/trust as JSON")
	c.Args = takes(0, 1)
	c.RunE = asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
		var p place
		if len(args) == 1 {
			p.dir = args[0]
		}
		root, err := p.find(c.Context(), client)
		if err != nil {
			return err
		}
		done, err := client.WorkspaceTrust(c.Context(), rpc.TrustParams{Workspace: root, Trusted: trusted})
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), done)
		}
		word := "trusted"
		if !trusted {
			word = "not trusted"
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", word, term.Clean(done.Workspace))
		return nil
	})
	return c
}
