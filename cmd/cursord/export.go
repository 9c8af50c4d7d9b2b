package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/export"
	"cursord/rpc"
)

func exportCommand() *cobra.Command {
	var p place
	var format, file string
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write a whole session as Markdown or lines of JSON",
		Long: `Write a whole session: as Markdown for people, or as lines of JSON (ndjson) for "cursord import" on this or another
machine. These lines are for programs, too, so there is no --json.

` + namesHelp,
		Example: `  cursord export 01J9ZK4T6Q >session.md
  cursord export 01J9ZK4T6Q --format ndjson -o session.ndjson`,
		Args: func(c *cobra.Command, args []string) error {
			if format != "markdown" && format != "ndjson" {
				return fmt.Errorf("--format is %q; it must be markdown or ndjson", format)
			}
			return arguments.Takes(1, 1)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			session, err := p.session(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			if file == "" || file == "-" {
				return export.Session(c.Context(), client, session, format, c.OutOrStdout())
			}
			return export.IntoNewFile(file, func(w io.Writer) error { return export.Session(c.Context(), client, session, format, w) })
		}),
	}
	p.addFlag(c)
	c.Flags().StringVar(&format, "format", "markdown", "the `FORMAT`: markdown or ndjson")
	c.Flags().StringVarP(&file, "output", "o", "", "the new `FILE` to write to (default: stdout)")
	return c
}
