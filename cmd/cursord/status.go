package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the daemon: its socket, database, clients and turns",
		Args:  arguments.Takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			s, err := askStatus(c.Context(), client)
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), s)
			}
			turns, err := client.TurnList(c.Context(), rpc.TurnListParams{Active: true, Limit: 1000})
			if err != nil {
				return err
			}
			listing.Status(c.OutOrStdout(), s)
			listing.Active(c.OutOrStdout(), turns.Turns, time.Now())
			return approve.PrintPending(c.Context(), client, c.OutOrStdout(), func(*sessions.Approval) bool { return true })
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the status as JSON")
	return c
}

// askStatus asks the daemon for its status, and tells the user if the answer takes long.
func askStatus(ctx context.Context, client *rpc.Client) (api.Status, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return api.Status{}, err
	}
	var s api.Status
	err = dial.CallInTime(ctx, dirs, client, saysWaiting, "daemon/status", nil, &s)
	return s, err
}
