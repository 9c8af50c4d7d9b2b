package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/decide"
	"cursord/rpc"
)

func undoCommand() *cobra.Command {
	return stepping("undo", "Undo the latest accept or reject; repeatable")
}

func redoCommand() *cobra.Command {
	return stepping("redo", "Redo what undo took back; repeatable")
}

func stepping(verb, short string) *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   verb,
		Short: short,
		Args:  arguments.Takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			return decide.Step(c.Context(), client, verb, root, asJSON, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of diff/"+verb+" as JSON")
	return c
}
