package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/remove"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

func sessionsCommand() *cobra.Command {
	var p place
	var all, agent, tree, asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a workspace, the latest first",
		Long: `List the sessions of a workspace, the latest first. STATUS is the status of the running turn, or of the latest one; "waits for you"
is a turn whose agent asks something, with the command that answers below the list.
TIME and TOKENS (in and out) are sums over all turns, in a fork over its own; ≥ means that an interrupted turn may have taken longer. On a terminal, titles and ids are cut to its width. --agent
lists cursor-agent's own chats of the workspace instead, also those started without cursord; "cursord run --chat ID"
continues one. --tree puts forks below the sessions that they were forked from, and prints each session's PLACE in the list without --tree: @2 is then the
one that "cursord show @2" shows; with --all it counts in the session's own workspace.`,
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

func renameCommand() *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   "rename SESSION TITLE",
		Short: "Change the title of a session",
		Long:  "Change the title of a session.\n\n" + namesHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return errors.New("more than one TITLE: put quotes around it")
			}
			if len(args) == 2 && strings.TrimSpace(args[1]) == "" {
				return errors.New("the TITLE is empty")
			}
			return arguments.Takes(2, 2)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			id, err := p.session(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			done, err := client.SessionUpdate(c.Context(), rpc.SessionUpdateParams{SessionID: id, Title: &args[1]})
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), done)
			}
			fmt.Fprintf(c.OutOrStdout(), "session %s: %s\n", term.Clean(done.Session.ID), term.Clean(done.Session.Title))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the session as JSON")
	return c
}

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
