package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/call"
)

func callCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "call METHOD [PARAMS]",
		Short: "Send one request to the daemon and print its answer",
		Long: `Send one request to the daemon and print its answer as JSON: indented on a terminal, on one line in a pipe. PARAMS is
a JSON object, or - to read it from stdin. An error is printed on stderr with its code, kind and message; the exit
status is then 1.`,
		Example: `  cursord call daemon/status
  cursord call session/list '{"limit": 5}'`,
		Args: arguments.Takes(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			params, err := call.Params(args[1:], c.InOrStdin())
			if err != nil {
				return err
			}
			client, err := newClient(c.Context(), nil)
			if err != nil {
				return err
			}
			defer client.Close()
			answered, err := call.Print(c.Context(), client, args[0], params, c.OutOrStdout(), c.ErrOrStderr())
			if err == nil && !answered {
				return statusError(exitFailed)
			}
			return err
		},
	}
}
