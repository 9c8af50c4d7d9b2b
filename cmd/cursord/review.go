package main

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func reviewCommand() *cobra.Command {
	var p place
	c := &cobra.Command{
		Use:   "review [PATH...]",
		Short: "Go through what is left to review, hunk by hunk",
		Long: `Go through what is left to review, hunk by hunk, and accept or reject each. Every decision is made at once: what is
decided stays decided however the review ends. A PATH is a file or a directory.

On a terminal each answer is one key; elsewhere answers are read as lines of stdin. These are the answers:

` + reviewHelp,
		Example: `  cursord review
  cursord review src`,
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, paths []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancelCause(c.Context())
			defer cancel(nil)
			out := c.OutOrStdout()
			in, err := openAnswers(c.InOrStdin(), out, cancel)
			if err != nil {
				return err
			}
			defer in.close()
			r := &review{
				client: client, root: root, paths: paths, in: in, out: out, errOut: c.ErrOrStderr(), palette: term.PaletteOf(out),
			}
			err = r.run(ctx)
			if ended, ok := context.Cause(ctx).(signalError); ok {
				return signalStatus(ended.signal)
			}
			return err
		}),
	}
	p.addFlag(c)
	return c
}

// signalStatus is the exit status that shells give to a program that a signal ended.
func signalStatus(s os.Signal) statusError {
	if n, ok := s.(syscall.Signal); ok {
		return statusError(exitCancelled - int(syscall.SIGINT) + int(n))
	}
	return exitCancelled
}
