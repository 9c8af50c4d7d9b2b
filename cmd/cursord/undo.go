package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func undoCommand() *cobra.Command {
	return stepping("undo", "undone", "Take back the latest accept or reject; repeatable")
}

func redoCommand() *cobra.Command {
	return stepping("redo", "redone", "Make again what undo took back; repeatable")
}

func stepping(verb, done, short string) *cobra.Command {
	var p place
	c := &cobra.Command{
		Use:   verb,
		Short: short,
		Args:  takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			var out rpc.UndoResult
			if err := client.Call(c.Context(), "diff/"+verb, rpc.WorkspaceParams{Workspace: root}, &out); err != nil {
				return err
			}
			for _, d := range out.Diffs {
				left := "nothing"
				if len(d.Hunks) > 0 {
					left = term.Count(len(d.Hunks), "hunk")
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %s has %s to review\n", done, term.Clean(d.Path), left)
			}
			return nil
		}),
	}
	p.addFlag(c)
	return c
}
