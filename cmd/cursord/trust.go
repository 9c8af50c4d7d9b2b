package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/trust"
	"cursord/rpc"
)

func trustCommand() *cobra.Command {
	return trusting(true, &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let agents run in a workspace",
		Long: `Let agents run in a workspace: they can run commands and change files there. This applies to that directory alone, not
to workspaces below it. Without DIR it is the workspace of the current directory. If that is another directory, the root
or the home folder, it asks first; without a terminal, name DIR.

It also lets cursord use the filters, and the parts outside of the workspace, that the configuration of its git
repositories names now. An agent can change that configuration, so later additions are not used until you trust the
workspace again: that lists them and asks.`,
	})
}

func trusting(trusted bool, c *cobra.Command) *cobra.Command {
	var p place
	var asJSON bool
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/trust as JSON")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && p.dir != "" {
			return errors.New("DIR and --workspace exclude each other")
		}
		return arguments.Takes(0, 1)(c, args)
	}
	c.RunE = asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
		if len(args) == 1 {
			p.dir = args[0]
		}
		root, err := p.find(c.Context(), client)
		if err != nil {
			return err
		}
		if trusted {
			now, err := client.WorkspaceTrust(c.Context(), rpc.TrustParams{Workspace: root, Trusted: true, DryRun: true})
			if err != nil {
				return err
			}
			if err := trust.Check(c.InOrStdin(), c.ErrOrStderr(), root, now.Unused, p.dir != ""); err != nil {
				return err
			}
		}
		done, err := client.WorkspaceTrust(c.Context(), rpc.TrustParams{Workspace: root, Trusted: trusted})
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), done)
		}
		text := "trusted: %s\n"
		if !trusted {
			text = "not trusted: %s; no new turns begin there\n"
		}
		fmt.Fprintf(c.OutOrStdout(), text, term.Clean(done.Workspace))
		return nil
	})
	return c
}
