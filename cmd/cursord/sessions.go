package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cursord/rpc"
	"cursord/sessions"
)

func sessionsCommand() *cobra.Command {
	var p place
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a workspace, the latest first",
		Args: func(c *cobra.Command, args []string) error {
			if all && p.dir != "" {
				return errors.New("--workspace and --all exclude each other")
			}
			return cobra.NoArgs(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root := ""
			if !all {
				var err error
				if root, err = p.find(c.Context(), client); err != nil {
					return err
				}
			}
			list, err := allSessions(c.Context(), client, root)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), rpc.SessionList{Sessions: list})
			}
			if len(list) == 0 {
				if all {
					fmt.Fprintln(c.ErrOrStderr(), "no sessions yet")
				} else {
					fmt.Fprintf(c.ErrOrStderr(), "no sessions in %s\n", clean(root))
				}
				return nil
			}
			printTable(c.OutOrStdout(), sessionRows(list, all, time.Now()))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&all, "all", false, "of all workspaces")
	c.Flags().BoolVar(&asJSON, "json", false, "print the sessions as JSON")
	return c
}

// allSessions reads every page of session/list.
func allSessions(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Session, error) {
	list := []*sessions.Session{}
	params := rpc.SessionListParams{Workspace: root}
	for {
		var page rpc.SessionList
		if err := client.Call(ctx, "session/list", params, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Sessions...)
		if page.NextCursor == "" {
			return list, nil
		}
		params.Cursor = page.NextCursor
	}
}

func sessionRows(list []*sessions.Session, all bool, now time.Time) [][]string {
	rows := [][]string{{"ID", "STATE", "TURNS", "UPDATED"}}
	if all {
		rows[0] = append(rows[0], "WORKSPACE")
	}
	rows[0] = append(rows[0], "TITLE")
	for _, s := range list {
		row := []string{s.ID, string(s.State), fmt.Sprint(s.Turns), ago(s.UpdatedAt.Time, now)}
		if all {
			row = append(row, clean(s.Workspace))
		}
		rows = append(rows, append(row, clean(s.Title)))
	}
	return rows
}
