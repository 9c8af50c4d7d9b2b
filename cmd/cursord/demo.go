package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/demo"
)

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what cursord does, with an agent that plays a script",
		Long: `Show what cursord does: a turn, a review, a restart. It uses a temporary daemon, a temporary folder with a small
project, and an agent that plays a script. It needs nothing installed and leaves nothing behind.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			// The temporary folder is removed at every signal.
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
			defer stop()
			err := demo.Run(ctx, c.OutOrStdout(), c.ErrOrStderr())
			if ctx.Err() != nil {
				return statusError(exitCancelled)
			}
			return err
		},
	}
}
