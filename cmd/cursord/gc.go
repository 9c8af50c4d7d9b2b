package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

func gcCommand() *cobra.Command {
	var dryRun, asJSON bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete the sessions that the configuration does not keep, and compact the database",
		Long: `Delete the sessions that the configuration does not keep, forget workspaces whose folders are gone and that have no
sessions, and compact the database; turns need not wait for it. The daemon does all this at its start and once a day.

By default all sessions are kept; see the settings keep_age, keep_sessions and keep_size. A session with a running or
queued turn, or with pending changes, is always kept.`,
		Args: arguments.Takes(0, 0),
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
			if s, err = askStatus(c.Context(), client); err != nil {
				return err
			}
			listing.Collected(c.OutOrStdout(), c.ErrOrStderr(), result, s.Storage, dryRun)
			return nil
		}),
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be deleted")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}
