package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

func backupCommand() *cobra.Command {
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a new file, while the daemon runs",
		Long: `Copy the database to a new file while the daemon runs: all sessions, turns and pending reviews as they are at one
moment. The file appears once it is complete, and only you can read it. It contains prompts and contents of files.

To restore it, stop the daemon and replace the database:

  cursord stop
  cp FILE ~/.local/state/cursord/cursord.db    # "cursord status" shows the path

Turns that were running or queued are then interrupted. Work trees are not part of it.`,
		Args: arguments.Takes(1, 1),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			s, err := askStatus(c.Context(), client)
			if err != nil {
				return err
			}
			done := term.Progress(c.ErrOrStderr(), "backing up", path+sessions.BackupSuffix, s.Storage.Bytes-s.Storage.FreeBytes)
			result, err := client.DaemonBackup(c.Context(), rpc.BackupParams{Path: path, Replace: force})
			done()
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), result)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", term.Clean(result.Path), term.Size(result.Bytes))
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of daemon/backup as JSON")
	c.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return c
}
