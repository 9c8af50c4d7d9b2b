package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

func sessionsCommand() *cobra.Command {
	var p place
	var all, agent, asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a workspace, the latest first",
		Long: `List the sessions of a workspace, the latest first. LAST is how the latest turn of each has ended, and TURN its id.
Or, with --agent, the chats that cursor-agent itself keeps of it,
those too that were begun without cursord. "cursord run --chat ID" goes on with one.`,
		Args: func(c *cobra.Command, args []string) error {
			if all && p.dir != "" {
				return errors.New("--workspace and --all exclude each other")
			}
			if all && agent {
				return errors.New("--agent and --all exclude each other")
			}
			return takes(0, 0)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root := ""
			if !all {
				var err error
				if root, err = p.find(c.Context(), client); err != nil {
					return err
				}
			}
			if agent {
				return listChats(c, client, root, asJSON)
			}
			list, err := allSessions(c.Context(), client, root)
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), rpc.SessionList{Sessions: list})
			}
			if len(list) == 0 {
				if all {
					fmt.Fprintln(c.ErrOrStderr(), "no sessions yet")
				} else {
					fmt.Fprintf(c.ErrOrStderr(), "no sessions in %s; --all lists those of other workspaces\n", term.Clean(root))
				}
				return nil
			}
			last, err := lastTurns(c.Context(), client, root)
			if err != nil {
				return err
			}
			term.Table(c.OutOrStdout(), sessionRows(list, last, all, time.Now()))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&all, "all", false, "of all workspaces")
	c.Flags().BoolVar(&agent, "agent", false, "list the chats that cursor-agent keeps of the workspace")
	c.Flags().BoolVar(&asJSON, "json", false, "print the sessions as JSON")
	return c
}

// allSessions reads every page of session/list.
func allSessions(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Session, error) {
	list := []*sessions.Session{}
	params := rpc.SessionListParams{Workspace: root}
	for {
		page, err := client.SessionList(ctx, params)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Sessions...)
		if page.NextCursor == "" {
			return list, nil
		}
		params.Cursor = page.NextCursor
	}
}

// lastTurns returns, by sessions, the turn that runs, else the first that waits, else the latest, as far as there are turns.
func lastTurns(ctx context.Context, client *rpc.Client, root string) (map[string]*sessions.Turn, error) {
	last := map[string]*sessions.Turn{}
	for params := (rpc.TurnListParams{Workspace: root, Limit: 1000}); ; {
		page, err := client.TurnList(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Turns {
			last[t.SessionID] = t // the latest come first
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return last, nil
		}
	}
}

// turnOutcome says in a word or two how a turn has ended; "-" of one that has not, or that there is not.
func turnOutcome(t *sessions.Turn) string {
	switch {
	case t == nil || !t.Status.Final():
		return "-"
	case t.Error != nil && t.Error.Kind != "":
		return string(t.Status) + ": " + term.Clean(t.Error.Kind)
	}
	return string(t.Status)
}

func sessionRows(list []*sessions.Session, last map[string]*sessions.Turn, all bool, now time.Time) [][]string {
	rows := [][]string{{"ID", "STATE", "TURNS", "LAST", "UPDATED", "TURN"}}
	if all {
		rows[0] = append(rows[0], "WORKSPACE")
	}
	rows[0] = append(rows[0], "TITLE")
	for _, s := range list {
		turn := "-"
		if t := last[s.ID]; t != nil {
			turn = term.Clean(t.ID)
		}
		row := []string{s.ID, string(s.State), fmt.Sprint(s.Turns), turnOutcome(last[s.ID]), term.Ago(s.UpdatedAt.Time, now), turn}
		if all {
			row = append(row, term.Clean(s.Workspace))
		}
		rows = append(rows, append(row, term.Clean(s.Title)))
	}
	return rows
}

// listChats prints the agent's own chats of a workspace.
func listChats(c *cobra.Command, client *rpc.Client, root string, asJSON bool) error {
	list, err := client.AgentChats(c.Context(), rpc.WorkspaceParams{Workspace: root})
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(c.OutOrStdout(), list)
	}
	if len(list.Chats) == 0 {
		fmt.Fprintf(c.ErrOrStderr(), "cursor-agent has no chats of %s\n", term.Clean(root))
		return nil
	}
	now := time.Now()
	rows := [][]string{{"CHAT", "UPDATED", "SESSION", "TITLE"}}
	for _, chat := range list.Chats {
		session := strings.Join(chat.Sessions, ", ")
		if session == "" {
			session = "-"
		}
		rows = append(rows, []string{term.Clean(chat.ID), term.Ago(chat.UpdatedAt.Time, now), session, term.Clean(chat.Title)})
	}
	term.Table(c.OutOrStdout(), rows)
	return nil
}
