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
	var asJSON, pending, forEditors bool
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
		var roots []string
		var answer any
		var err error
		switch {
		case forEditors:
			var followed glance.Followed
			followed, err = glance.ForEditors(c.Context())
			roots, answer = followed.Folders, followed
		case pending:
			_, roots, err = glance.Folders(c.Context())
			answer = append([]string{}, roots...)
		default:
			return list(c, args)
		}
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), answer)
		}
		for _, root := range roots {
			fmt.Fprintln(c.OutOrStdout(), term.Clean(root))
		}
		return nil
	}
	c.Flags().BoolVar(&pending, "pending", false, "only those with something to review, or with a turn on its way; starts no daemon")
	c.Flags().BoolVar(&forEditors, "for-editors", false, "only those to which editors connect by themselves: with a session while a daemon runs, else with something to review; starts no daemon")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/list as JSON")
	c.MarkFlagsMutuallyExclusive("pending", "for-editors")
	return c
}
