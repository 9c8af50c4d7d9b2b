package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func cancelCommand() *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   "cancel [TURN]",
		Short: "Cancel a turn (default: the one of the workspace)",
		Long: `Cancel a turn and wait until it has ended. Without TURN it is the running turn of the workspace, or the queued one; if
there are several, name one. The exit status is 1 if the turn had already ended.

` + namesHelp,
		Args: arguments.Takes(0, 1),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			id, err := p.activeTurn(c.Context(), client, args)
			if err != nil {
				return err
			}
			active, err := naming.Names{Client: client}.Active(c.Context(), id)
			if err != nil {
				return err
			}
			asked, err := client.TurnCancel(c.Context(), rpc.TurnParams{TurnID: id})
			if err != nil {
				return err
			}
			if !active && asked.Turn.Status.Final() {
				return fmt.Errorf("the turn %s had ended already: %s", term.Clean(id), asked.Turn.Status)
			}
			ended, err := client.TurnWait(c.Context(), rpc.TurnParams{TurnID: id})
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), ended)
			}
			t := ended.Turn
			fmt.Fprintf(c.OutOrStdout(), "%s: turn %s of session %s\n", t.Status, term.Clean(t.ID), term.Clean(t.SessionID))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the turn as JSON")
	return c
}
