package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/rpc"
	"cursord/sessions"
)

func sessionsCommand() *cobra.Command {
	var p place
	var all, agent, tree, asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a workspace, the latest first",
		Long: `List the sessions of a workspace, the latest first. STATUS is that of the running turn, else of the queued one, else of the latest. If it is "waits
for you", the agent asks something; the command that answers stands below the list. TURN is that turn's id; a terminal shows it from 100 columns on.
TIME and TOKENS (in and out) are the sums of the session's turns, without those that a fork has copied; ≥ means that an interrupted turn may have
taken longer. A terminal cuts titles and ids to its width.

--agent lists cursor-agent's own chats of the workspace instead, also those started without cursord; "cursord run --chat ID" continues one.

--tree puts forks below the sessions that they were forked from. PLACE is then the number by which other commands name the session: "cursord
show @2" shows the one at @2. With --all, places count in each session's own workspace.`,
		Args: func(c *cobra.Command, args []string) error {
			if all && p.dir != "" {
				return errors.New("--workspace and --all exclude each other")
			}
			if all && agent {
				return errors.New("--agent and --all exclude each other")
			}
			if tree && agent {
				return errors.New("--agent and --tree exclude each other")
			}
			return arguments.Takes(0, 0)(c, args)
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
			if err := listing.Sessions(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), root, tree, asJSON); err != nil || asJSON {
				return err
			}
			return approve.PrintPending(c.Context(), client, c.ErrOrStderr(), func(a *sessions.Approval) bool { return all || a.Workspace == root })
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&tree, "tree", false, "show which sessions are forks of which")
	c.Flags().BoolVar(&all, "all", false, "list the sessions of all workspaces")
	c.Flags().BoolVar(&agent, "agent", false, "list the chats that cursor-agent keeps of the workspace")
	c.Flags().BoolVar(&asJSON, "json", false, "print the sessions as JSON")
	return c
}
