package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cursord/daemon"
	"cursord/rpc"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the daemon: its socket, database, clients and turns",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := newClient(c.Context(), nil)
			if err != nil {
				return err
			}
			defer client.Close()
			s, err := askStatus(c.Context(), client)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), s)
			}
			printStatus(c.OutOrStdout(), s)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the status as JSON")
	return c
}

// askStatus asks for what a daemon answers at once, unless it hangs.
func askStatus(ctx context.Context, client *rpc.Client) (daemon.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var s daemon.Status
	err := client.Call(ctx, "daemon/status", nil, &s)
	if errors.Is(err, context.DeadlineExceeded) {
		return s, errors.New("the daemon accepts connections and does not answer: end it with \"cursord stop\", or kill its process")
	}
	return s, err
}

func printStatus(w io.Writer, s daemon.Status) {
	fmt.Fprintf(w, "version     %s\n", s.Version)
	fmt.Fprintf(w, "process     %d, since %s\n", s.PID, s.StartedAt.Local().Format(time.DateTime))
	fmt.Fprintf(w, "socket      %s\n", s.Socket)
	fmt.Fprintf(w, "database    %s\n", s.Database)
	fmt.Fprintf(w, "clients     %d\n", s.Clients)
	fmt.Fprintf(w, "workspaces  %d\n", s.Workspaces)
	fmt.Fprintf(w, "turns       %d running, %d queued\n", s.Turns.Running, s.Turns.Queued)
	fmt.Fprintf(w, "memory      %.1f MiB\n", float64(s.MemoryBytes)/(1<<20))
}

// printJSON prints v for programs, and for people who read it.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
