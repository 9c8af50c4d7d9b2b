package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/why"
	"cursord/rpc"
)

func whyCommand() *cobra.Command {
	var p place
	var w why.Why
	asJSON := false
	c := &cobra.Command{
		Use:   "why FILE[:LINE[-LINE]]",
		Short: "Show which prompts the lines of a file come from",
		Long: `Show which prompts the lines of a file come from: of a whole file a line for each, with a * before what is still to be reviewed, else
prompt, time, session and turn. Lines of an agent keep their source after an accept, when you edit around them, move them or
commit them. The others are yours, or older than cursord.`,
		Example: `  cursord why main.go
  cursord why main.go:12-20
  cursord show $(cursord why --json main.go:12 | jq -r '.lines[0].source.sessionId')`,
		Args: func(c *cobra.Command, args []string) (err error) {
			if err = arguments.Takes(1, 1)(c, args); err == nil {
				w, err = why.Parse(args[0])
			}
			return err
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			w.JSON = asJSON
			return w.Do(c.Context(), n, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of file/why as JSON")
	return c
}
