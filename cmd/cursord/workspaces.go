package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

func workspacesCommand() *cobra.Command {
	var asJSON, pending bool
	c := &cobra.Command{
		Use:   "workspaces",
		Short: "List the workspaces that the daemon knows, and the copies in which agents work",
		Args:  takes(0, 0),
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
		roots, err := pendingRoots(c.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), roots)
		}
		for _, root := range roots {
			fmt.Fprintln(c.OutOrStdout(), term.Clean(root))
		}
		return nil
	}
	c.Flags().BoolVar(&pending, "pending", false, "only name those with something to review, and start no daemon for that")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/list as JSON")
	return c
}

// pendingRoots returns the workspaces with something to review. If no daemon runs, the database says which.
func pendingRoots(ctx context.Context) ([]string, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, err
	}
	roots := []string{}
	ctx, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	conn, err := endpoint.Dial(ctx, dirs.Socket)
	if err != nil {
		found, err := sessions.PendingIn(dirs.Database())
		return append(roots, found...), err
	}
	client := rpc.NewClient(conn, nil)
	defer client.Close()
	list, err := client.WorkspaceList(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range list.Workspaces {
		if w.PendingHunks > 0 {
			roots = append(roots, w.Workspace)
		}
	}
	return roots, nil
}
