package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func forkCommand() *cobra.Command {
	var p place
	var turn, title, isolation string
	var asJSON bool
	c := &cobra.Command{
		Use:   "fork SESSION",
		Short: "Begin another session with the transcript of one",
		Long: `Begin another session with the transcript of one, up to and with a turn (default: all turns that have ended). The session stays
as it is, and may be running. The fork's first turn begins a fresh chat, which gets the transcript as context. Its id is
printed: cursord run --session ID "…" goes on there.

` + namesHelp,
		Example: `  cursord fork @1
  cursord fork @1 --turn 01J9ZK4T6Q --title "with a map"
  cursord run --session $(cursord fork @1 --isolation copy) "try it with channels"`,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("isolation") && isolation != "none" && isolation != "copy" {
				return fmt.Errorf("--isolation is %q; it must be none or copy", isolation)
			}
			return arguments.Takes(1, 1)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			params, flags := rpc.SessionForkParams{}, c.Flags()
			if params.SessionID, err = n.Session(c.Context(), args[0]); err != nil {
				return err
			}
			if params.TurnID, err = n.TurnOf(c.Context(), params.SessionID, turn); err != nil {
				return err
			}
			if flags.Changed("title") {
				if params.Title = &title; strings.TrimSpace(title) == "" {
					return misuse.Errorf("--title is empty; leave it out to have one made")
				}
			}
			if flags.Changed("isolation") {
				params.Isolation = &isolation
			}
			made, err := client.SessionFork(c.Context(), params)
			if err != nil {
				return err
			}
			if made.Session.Turns == 0 {
				term.PrintFolded(c.ErrOrStderr(), "cursord: the fork is empty, because no turn of the session has ended\n")
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), made)
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), term.Clean(made.Session.ID))
			return err
		}),
	}
	p.addFlag(c)
	c.Flags().StringVar(&turn, "turn", "", "the last `TURN` to keep; @1 is the session's latest")
	c.Flags().StringVar(&title, "title", "", "the fork's title (default: made from that of the session)")
	c.Flags().StringVar(&isolation, "isolation", "", "where the agent works: none or copy (default: as in the session)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the fork as JSON")
	return c
}
