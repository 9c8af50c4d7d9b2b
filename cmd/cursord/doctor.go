package main

import (
	"context"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/doctor"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/rpc"
)

func doctorCommand() *cobra.Command {
	var p place
	var asJSON, helix, forget bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what is installed, where things are and what is wrong",
		Long: `Show what is installed, where things are and what is wrong, with what to do about it. The exit status is 1 if
something is wrong.

It lists the hooks by which cursor-agent runs programs in the workspace. What those that run after edits change, in
lines that the turn wrote, is listed for review as a part of the turn.

Damage that was found in the database, and set aside, is a problem until you say with --forget-damaged that you know of
it: what was set aside is then dropped.

It also names the variables of PATH and CURSOR_* that the daemon has otherwise than you, and not their values: agents run
in the daemon's environment, unless the configuration says agent_env = "client". Where you would find another cursor-agent
than the daemon, by your PATH or CURSORD_AGENT, both are shown. Other programs called agent that are on PATH, and were not
taken for cursor-agent, are listed.

With --helix it also compares Helix's languages.toml and config.toml with what "cursord editor install helix" would
write for the Helix that is installed.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			var forgotten int
			if forget {
				var err error
				if forgotten, err = forgetDamaged(c.Context()); err != nil {
					return err
				}
			}
			d := doctor.Diagnose(c.Context(), doctor.Options{
				Version: version.Own(), Helix: helix, Status: askStatus, Root: p.find,
				Connect: func(ctx context.Context) (*rpc.Client, error) { return newClient(ctx, nil) },
			})
			d.Forgotten = forgotten
			if asJSON {
				if err := term.PrintJSON(c.OutOrStdout(), d); err != nil {
					return err
				}
			} else {
				d.Print(c.OutOrStdout())
			}
			if len(d.Problems) > 0 {
				return statusError(exitFailed)
			}
			return nil
		},
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	c.Flags().BoolVar(&forget, "forget-damaged", false, "forget what was damaged in the database and set aside")
	c.Flags().BoolVar(&helix, "helix", false, "look at Helix's configuration, too")
	return c
}

// forgetDamaged has the daemon drop what was damaged and set aside, and returns how much that was.
func forgetDamaged(ctx context.Context) (int, error) {
	client, err := newClient(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	result, err := client.DaemonForgetDamaged(ctx)
	return result.Forgotten, err
}
