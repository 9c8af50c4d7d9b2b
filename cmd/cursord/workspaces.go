package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
)

func workspacesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "workspaces",
		Short: "List the workspaces that the daemon knows, and the copies in which agents work",
		Args:  takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			list, err := client.WorkspaceList(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), list)
			}
			if len(list.Workspaces) == 0 {
				fmt.Fprintln(c.ErrOrStderr(), "no workspaces yet")
				return nil
			}
			rows := [][]string{{"SESSIONS", "RUNNING", "HUNKS", "TRUSTED", "WORKSPACE"}}
			for _, w := range list.Workspaces {
				trusted := "no"
				if w.Trusted {
					trusted = "yes"
				}
				rows = append(rows, []string{
					fmt.Sprint(w.Sessions), fmt.Sprint(w.Running), fmt.Sprint(w.PendingHunks), trusted, term.Clean(w.Workspace),
				})
			}
			term.Table(c.OutOrStdout(), rows)
			if copies := copyRows(list.Workspaces, time.Now()); len(copies) > 1 {
				fmt.Fprintln(c.OutOrStdout())
				term.Table(c.OutOrStdout(), copies)
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/list as JSON")
	return c
}

// copyRows lists the copies of workspaces in which agents work.
func copyRows(list []api.WorkspaceInfo, now time.Time) [][]string {
	rows := [][]string{{"COPY OF SESSION", "SIZE", "USED", "IN"}}
	for _, w := range list {
		for _, c := range w.Copies {
			rows = append(rows, []string{term.Clean(c.SessionID), term.Size(c.Bytes), term.Ago(c.UsedAt.Time, now), term.Clean(c.Path)})
		}
	}
	return rows
}
