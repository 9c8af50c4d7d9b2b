package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/logs"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
)

func logsCommand() *cobra.Command {
	var follow, asJSON bool
	var last int
	c := &cobra.Command{
		Use:   "logs",
		Short: "Show the log of the background daemon",
		Long: `Show the last lines of the background daemon's log. --follow also shows new lines, and goes on with the next daemon.
It needs no daemon and starts none. A daemon in the foreground ("cursord serve") logs to its terminal instead.`,
		Args: func(c *cobra.Command, args []string) error {
			if last < 0 {
				return errors.New("-n must not be negative")
			}
			return arguments.Takes(0, 0)(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			dirs, err := endpoint.FindDirs()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			err = logs.Show(ctx, c.OutOrStdout(), dirs.Log(), last, follow, asJSON)
			if errors.Is(err, logs.ErrNone) {
				fmt.Fprintf(c.ErrOrStderr(), "no log yet (%s)\n", term.Clean(dirs.Log()))
				return nil
			}
			return err
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show new lines until Ctrl-C")
	c.Flags().IntVarP(&last, "lines", "n", 50, "begin with the last `N` lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the lines as in the file: JSON")
	return c
}
