package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/tracefile"
)

func serveCommand(inject serve.Injected) *cobra.Command {
	var inBackground bool
	var trace string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon in the foreground, with its log on stderr, until it is stopped (Ctrl-C, cursord stop) or nobody has
used it for the setting idle_exit. No command needs this: commands start a daemon in the background.

SIGHUP makes it read its configuration again; a background daemon also reopens its log file. The log names settings
that apply only at the next start. --trace records all messages of all connections, with prompts and contents of
files.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if inBackground {
				if err := serve.Background(c.Context(), inject); !errors.Is(err, serve.ErrLogged) {
					return err
				}
				return statusError(exitFailed)
			}
			return serve.Foreground(c.Context(), c.ErrOrStderr(), trace, inject)
		},
	}
	tracefile.AddFlag(c, &trace)
	c.Flags().BoolVar(&inBackground, "detached", false, "log to the log file and give way to a daemon that runs already")
	if err := c.Flags().MarkHidden("detached"); err != nil {
		panic(err) // there is no such flag
	}
	return c
}
