package main

import (
	"context"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
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
		Long: `Show what is installed, where things are, what is wrong, and how to fix it. The exit status is 1 if something is
wrong.

It lists the hooks with which cursor-agent runs programs in the workspace. What a hook changes after an edit, in lines
that the turn wrote, is reviewed as part of the turn.

Damaged records of the database that were set aside count as a problem until --forget-damaged deletes them.

It names the variables among PATH and CURSOR_* that differ between you and the daemon (never their values): agents run
in the daemon's environment, unless the setting agent_env is "client". If your PATH or CURSORD_AGENT leads to another
cursor-agent than the daemon's, it shows both. It also lists other programs called agent on PATH.

With --helix it also compares Helix's languages.toml and config.toml with what "cursord editor install helix" would
write.`,
		Args: arguments.Takes(0, 0),
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
	c.Flags().BoolVar(&forget, "forget-damaged", false, "delete the damaged records that were set aside")
	c.Flags().BoolVar(&helix, "helix", false, "also check Helix's configuration")
	return c
}

// forgetDamaged makes the daemon drop the damaged objects that it has set aside, and returns their number.
func forgetDamaged(ctx context.Context) (int, error) {
	client, err := newClient(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	result, err := client.DaemonForgetDamaged(ctx)
	return result.Forgotten, err
}
