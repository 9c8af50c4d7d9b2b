package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
)

func dismissCommand() *cobra.Command {
	var p place
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "dismiss [PATH...]",
		Short: "Remove changes that nobody can decide from the review",
		Long: `Remove changes that nobody can decide from the review: of files outside of the workspace, for example in the folders
of "cursord run --add-dir", and of a workspace whose folder is gone (cursord dismiss --all -w DIR). No file is written.
This cannot be undone; if the folder comes back, its files are as they are, and not under review.`,
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return errors.New("needs either PATHs or --all")
			}
			return nil
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			list := []rpc.DismissParams{{Workspace: root, All: true}}
			if !all {
				list = nil
			}
			for _, arg := range args {
				path, err := filepath.Abs(arg)
				if err != nil {
					return err
				}
				list = append(list, rpc.DismissParams{Workspace: root, Path: &path})
			}
			n := 0
			for _, params := range list {
				out, err := client.DiffDismiss(c.Context(), params)
				if answer := (*rpc.Error)(nil); errors.As(err, &answer) && answer.Data.Kind == api.KindOutsideWorkspace {
					return fmt.Errorf("%s has nothing to dismiss", term.Clean(*params.Path))
				}
				if err != nil {
					return err
				}
				n += out.Dismissed
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), rpc.Dismissed{Dismissed: n})
			}
			if n == 0 {
				fmt.Fprintln(c.OutOrStdout(), "nothing to dismiss: no file outside of the workspace is listed")
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "dismissed %s\n", term.Count(n, "file"))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the number of dismissed files as JSON")
	c.Flags().BoolVar(&all, "all", false, "all files that nobody can decide")
	return c
}
