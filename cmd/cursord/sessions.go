package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/listing"
	"cursord/rpc"
)

func sessionsCommand() *cobra.Command {
	var p place
	var all, agent, asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a workspace, the latest first",
		Long: `List the sessions of a workspace, the latest first. STATUS is the status of the running turn, or of the latest one.
TIME and TOKENS (in and out) are sums over all turns. On a terminal, titles and ids are cut to its width. --agent
lists cursor-agent's own chats of the workspace instead, also those started without cursord; "cursord run --chat ID"
continues one.`,
		Args: func(c *cobra.Command, args []string) error {
			if all && p.dir != "" {
				return errors.New("--workspace and --all exclude each other")
			}
			if all && agent {
				return errors.New("--agent and --all exclude each other")
			}
			return takes(0, 0)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) (err error) {
			root := ""
			if !all {
				if root, err = p.find(c.Context(), client); err != nil {
					return err
				}
			}
			if agent {
				return listing.Chats(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), root, asJSON)
			}
			return listing.Sessions(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), root, asJSON)
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&all, "all", false, "list the sessions of all workspaces")
	c.Flags().BoolVar(&agent, "agent", false, "list the chats that cursor-agent keeps of the workspace")
	c.Flags().BoolVar(&asJSON, "json", false, "print the sessions as JSON")
	return c
}
