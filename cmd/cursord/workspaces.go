package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/glance"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func workspacesCommand() *cobra.Command {
	var asJSON, pending bool
	c := &cobra.Command{
		Use:   "workspaces",
		Short: "List the workspaces that the daemon knows, and the copies in which agents work",
		Args:  arguments.Takes(0, 0),
	}
	list := asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
		list, err := client.WorkspaceList(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), list)
		}
		listing.Workspaces(c.OutOrStdout(), c.ErrOrStderr(), list.Workspaces)
		return nil
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if !pending {
			return list(c, args)
		}
		_, roots, err := glance.Folders(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), append([]string{}, roots...))
		}
		for _, root := range roots {
			fmt.Fprintln(c.OutOrStdout(), term.Clean(root))
		}
		return nil
	}
	c.Flags().BoolVar(&pending, "pending", false, "only those with something to review, or with a turn on its way; starts no daemon")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/list as JSON")
	return c
}
