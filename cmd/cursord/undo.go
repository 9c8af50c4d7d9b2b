package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/decide"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func undoCommand() *cobra.Command {
	return stepping("undo", "undone", "Undo the latest accept or reject; repeatable")
}

func redoCommand() *cobra.Command {
	return stepping("redo", "redone", "Redo what undo took back; repeatable")
}

func stepping(verb, done, short string) *cobra.Command {
	var p place
	var asJSON bool
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
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), out)
			}
			left := "nothing"
			if hunks, _ := decide.Count(out.Diffs); hunks > 0 {
				left = term.Count(hunks, "hunk")
			}
			where := term.Count(len(out.Diffs), "file")
			if len(out.Diffs) == 1 {
				where = term.Clean(out.Diffs[0].Path)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s in %s; %s to review\n", done, decide.Step(out.Step), where, left)
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of diff/"+verb+" as JSON")
	return c
}
