package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/run"
	"cursord/rpc"
)

func waitCommand() *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   "wait [TURN]",
		Short: "Wait for a turn's end and print the agent's text",
		Long: `Wait for a turn's end. Without TURN it is the running turn of the workspace, or the queued one; if there are several,
name one. The agent's text goes to stdout; what it used and the number of pending changes go to stderr.
What the agent asks meanwhile is shown at your terminal, where you can answer it, or else on stderr. Ctrl-C ends the wait, not the turn. Exit statuses: 0 completed, 1 failed, 130 cancelled.

` + namesHelp,
		Example: `  cursord wait "$(cursord run --background "run the tests")"
  cursord wait @1`,
		Args: arguments.Takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			in := c.InOrStdin()
			if asJSON {
				in = nil
			}
			asking := approve.NewWatch(approve.Streams{In: in, Out: c.OutOrStdout(), ErrOut: c.ErrOrStderr()})
			client, err := newClient(c.Context(), asking.Notify)
			if err != nil {
				return err
			}
			defer client.Close()
			id, err := p.activeTurn(c.Context(), client, args)
			if err != nil {
				return err
			}
			watched, stop := context.WithCancel(c.Context())
			defer stop()
			_ = asking.Begin(watched, client, id) // the wait goes on without it, or says what is wrong
			ended, err := client.TurnWait(c.Context(), rpc.TurnParams{TurnID: id})
			if errors.Is(err, rpc.ErrClosed) { // the daemon has ended, and the next one knows what became of the turn
				if client, err = newClient(c.Context(), nil); err != nil {
					return err
				}
				defer client.Close()
				ended, err = client.TurnWait(c.Context(), rpc.TurnParams{TurnID: id})
			}
			if err != nil {
				return err
			}
			t := ended.Turn
			pending := run.PendingAfter(c.Context(), client, t)
			if asJSON {
				if err := run.PrintOutcome(c.OutOrStdout(), t, pending); err != nil {
					return err
				}
				return ask.Result(t)
			}
			if err := run.PrintText(c.Context(), client, c.OutOrStdout(), t); err != nil {
				return err
			}
			here, _ := (&place{}).find(c.Context(), client)
			run.SayEnd(c.ErrOrStderr(), t, pending, here)
			return ask.Result(t)
		},
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one object, as \"cursord run --output-format json\" does")
	return c
}
