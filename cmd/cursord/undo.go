package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/decide"
	"cursord/rpc"
)

func undoCommand() *cobra.Command {
	return stepping("undo", "Undo the latest accept or reject; repeatable", `Take back the latest decision of the workspace: an accept, a reject, the files of a rewind, or a commit that accepted
hunks. Each further call takes back the one before.

If lines of a decision have changed since, it cannot be taken back. The command then fails once, and says which decision
it is and which is next. Called again, it passes that decision over as long as its lines are changed.`)
}

func stepping(verb, short, long string) *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   verb,
		Short: short,
		Long:  long,
		Args:  arguments.Takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			return decide.Step(c.Context(), client, verb, root, asJSON, c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of diff/"+verb+" as JSON")
	return c
}
