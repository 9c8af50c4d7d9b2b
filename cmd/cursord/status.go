package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cursord/daemon"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the daemon: its socket, database, clients and turns",
		Args:  takes(0, 0),
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

// askStatus asks for what a daemon answers at once.
func askStatus(ctx context.Context, client *rpc.Client) (daemon.Status, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return daemon.Status{}, err
	}
	var s daemon.Status
	err = dial.CallInTime(ctx, dirs, client, saysWaiting, "daemon/status", nil, &s)
	return s, err
}

func printStatus(w io.Writer, s daemon.Status) {
	fmt.Fprintf(w, "version     %s\n", s.Version)
	fmt.Fprintf(w, "process     %d, since %s\n", s.PID, s.StartedAt.Local().Format(time.DateTime))
	fmt.Fprintf(w, "uptime      %s\n", span(time.Duration(s.UptimeSeconds)*time.Second))
	fmt.Fprintf(w, "socket      %s\n", s.Socket)
	fmt.Fprintf(w, "database    %s\n", s.Database)
	fmt.Fprintf(w, "storage     %s, %s of it free\n", size(s.Storage.Bytes), size(s.Storage.FreeBytes))
	if s.Storage.Trouble != "" {
		fmt.Fprintf(w, "            %s\n", paletteOf(w).red("takes no changes: "+clean(s.Storage.Trouble)))
	}
	if n := s.Storage.Damaged; n > 0 {
		fmt.Fprintf(w, "            %s\n", paletteOf(w).red(count(n, "damaged object")+" set aside"))
	}
	fmt.Fprintf(w, "clients     %d\n", s.Clients)
	fmt.Fprintf(w, "workspaces  %d\n", s.Workspaces)
	waits := ""
	if n := s.Turns.Background; n > 0 {
		waits = "; " + waitsFor(n)
	}
	fmt.Fprintf(w, "turns       %d running, %d queued%s\n", s.Turns.Running, s.Turns.Queued, waits)
	fmt.Fprintf(w, "lag         %.1f ms to the disk (%.1f at worst), %.1f ms from there (%.1f at worst); %s waiting\n",
		s.Lag.CommitMS.Last, s.Lag.CommitMS.Worst, s.Lag.LoopMS.Last, s.Lag.LoopMS.Worst, count(s.Storage.Waiting, "change"))
	fmt.Fprintf(w, "memory      %.1f MiB\n", float64(s.MemoryBytes)/(1<<20))
	for _, p := range s.Watching.Polling {
		fmt.Fprintf(w, "polling     %s: %s\n", clean(p.Workspace), clean(p.Reason))
	}
	if len(s.PerWorkspace) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows := [][]string{{"RUNNING", "QUEUED", "CLIENTS", "WAITING", "WORKSPACE"}}
	for _, each := range s.PerWorkspace {
		rows = append(rows, []string{
			fmt.Sprint(each.Running), fmt.Sprint(each.Queued), fmt.Sprint(each.Subscribers), fmt.Sprint(each.Waiting), clean(each.Workspace),
		})
	}
	printTable(w, rows)
}

// size says how many bytes there are.
func size(n int64) string {
	const unit = 1 << 10
	v, names := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; v >= unit && i < len(names)-1; i++ {
		v /= unit
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", v, names[i])
}

// span says how long d is, in its two largest units.
func span(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// printJSON prints v for programs, and for people who read it.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(plainWriter{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
