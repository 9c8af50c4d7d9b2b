package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cursord/daemon"
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
			var s daemon.Status
			if err := client.Call(c.Context(), "daemon/status", nil, &s); err != nil {
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
