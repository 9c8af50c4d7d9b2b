package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/rewind"
	"cursord/rpc"
)

func rewindCommand() *cobra.Command {
	var p place
	var r rewind.Rewind
	c := &cobra.Command{
		Use:   "rewind --turn TURN SESSION",
		Short: "Take a session back to before a turn, with the files",
		Long: `Take a session back to before a turn. The turn and the later ones leave the transcript, and their changes in files are taken back, pending or
accepted. What you have written or changed since stays, and is named. "cursord undo" brings the files back, but not the turns. The next turn
begins a fresh chat, which gets the remaining transcript as context. --dry-run and --ask show the patch and the prompts that go.

` + namesHelp,
		Example: `  cursord rewind @1 --turn @1 --dry-run
  cursord rewind @1 --turn @1 --ask
  cursord rewind @1 --turn 01J9ZK4T6Q --no-files`,
		Args: func(c *cobra.Command, args []string) error {
			if err := arguments.Takes(1, 1)(c, args); err != nil {
				return err
			}
			return r.Check()
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			r.Session, r.In = args[0], c.InOrStdin()
			return r.Do(c.Context(), n, c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	p.addFlag(c)
	c.Flags().StringVar(&r.Turn, "turn", "", "the first `TURN` to take back; @1 is the session's latest")
	c.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files as they are")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "only print the patch of what would change in files")
	c.Flags().BoolVar(&r.Ask, "ask", false, "show the patch of what would change in files, and ask first")
	c.Flags().BoolVar(&r.JSON, "json", false, "print the answer of session/rewind as JSON")
	return c
}
