package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func gcCommand() *cobra.Command {
	var dryRun, asJSON bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete the sessions that the configuration does not keep, and compact the database",
		Long: `Delete the sessions that the configuration does not keep, and compact the database; nothing waits for it. The daemon does
both by itself, at its start and once a day.

By default everything is kept. The configuration's keep_age, keep_sessions and keep_size say otherwise. A session with a turn
that runs or waits, or with changes under review, is always kept.`,
		Args: takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			s, err := askStatus(c.Context(), client)
			if err != nil {
				return err
			}
			done := term.Progress(c.ErrOrStderr(), "collecting", s.Database+sessions.CompactSuffix, s.Storage.Bytes-s.Storage.FreeBytes)
			result, err := client.DaemonGC(c.Context(), rpc.GCParams{DryRun: dryRun})
			done()
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), result)
			}
			tellCollected(c, result, dryRun)
			return nil
		}),
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only tell what would be deleted")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func tellCollected(c *cobra.Command, r api.Collected, dryRun bool) {
	w := c.OutOrStdout()
	if len(r.Sessions) > 0 {
		now := time.Now()
		rows := [][]string{{"TITLE", "UPDATED", "REASON", "WORKSPACE", "ID"}}
		for _, s := range r.Sessions {
			rows = append(rows, []string{term.Clean(s.Title), term.Ago(s.UpdatedAt.Time, now), s.Reason, term.Clean(s.Workspace), term.Clean(s.ID)})
		}
		term.Table(w, rows, 0, 3)
	}
	verb := "deleted"
	if dryRun {
		verb = "would delete"
	}
	fmt.Fprintf(w, "%s %s", verb, term.Count(len(r.Sessions), "session"))
	if r.Kept > 0 {
		fmt.Fprintf(w, "; %d more are busy or under review, and kept", r.Kept)
	}
	fmt.Fprintln(w)
	switch {
	case dryRun:
	case r.NotCompacted != "":
		fmt.Fprintf(c.ErrOrStderr(), "the database was not compacted: %s\n", term.Clean(r.NotCompacted))
	case r.BytesAfter >= r.BytesBefore:
		fmt.Fprintf(w, "the database has %s; there was nothing to compact\n", term.Size(r.BytesAfter))
	default:
		fmt.Fprintf(w, "compacted the database from %s to %s\n", term.Size(r.BytesBefore), term.Size(r.BytesAfter))
	}
}
