package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/typedefs"
	"cursord/rpc"
)

func schemaCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the types of the protocol's messages",
		Long: `Print the types of the protocol's messages, as this program speaks it: a JSON Schema, or types for one language.
rpc/PROTOCOL.md says what the messages mean.`,
		Example: "  cursord schema --typescript >cursord.ts",
		Args:    arguments.Takes(0, 0),
	}
	wanted := map[string]*bool{}
	for _, l := range typedefs.Languages {
		wanted[l.Name] = c.Flags().Bool(l.Name, false, l.Usage)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return typedefs.Print(c.OutOrStdout(), rpc.Schema, wanted)
	}
	return c
}
