package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/halt"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
)

func stopCommand() *cobra.Command {
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon",
		Long: `Stop the daemon and wait until it has ended. It refuses while turns are running or queued. --force interrupts them,
and kills a daemon that does not answer. Connected editors start another daemon when they need one.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			dirs, err := endpoint.FindDaemon()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), halt.Limit)
			defer cancel()
			pid := endpoint.LockHolder(dirs.Socket)
			outcome, says := "stopped", ""
			err = halt.Ask(ctx, dirs, pid, force, c.ErrOrStderr())
			switch {
			case errors.Is(err, halt.ErrNone):
				outcome, says, pid = "notRunning", "no daemon is running\n", 0
			case err == nil:
			case !force || !halt.Unanswered(err):
				return err
			default:
				if err := halt.Kill(c.Context(), dirs, pid); err != nil {
					return err
				}
				outcome, says = "killed", fmt.Sprintf("the daemon (process %d) did not answer and was killed\n", pid)
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), struct {
					Outcome string `json:"outcome"`
					PID     int    `json:"pid,omitempty"`
				}{outcome, pid})
			}
			fmt.Fprint(c.OutOrStdout(), says)
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "interrupt turns, and kill a daemon that does not answer")
	c.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON: stopped, killed or notRunning")
	return c
}
